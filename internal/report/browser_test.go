package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"image/color"
	"image/png"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inspector looks into every frame of the test page: something must be drawn,
// nothing may stick out of the page or lie on other text of the same chart.
const inspector = `
onload = () => {
  const found = [];
  for (const frame of document.querySelectorAll('iframe')) {
    const say = s => found.push(frame.title + ': ' + s);
    const page = frame.contentDocument, width = frame.contentWindow.innerWidth;
    if (!page.querySelector('h1')?.getBoundingClientRect().height) say('no headline is shown');
    if (page.documentElement.scrollWidth > width) say('the page is ' + page.documentElement.scrollWidth + ' wide');
    for (const chart of page.querySelectorAll('svg.chart')) {
      const name = chart.getAttribute('aria-label');
      if (chart.getBoundingClientRect().width < 250) say('chart is too narrow: ' + name);
      if (!chart.querySelector('path, rect, .curve')) say('chart without marks: ' + name);
      const texts = [...chart.querySelectorAll('text')].map(t => [t.textContent, t.getBoundingClientRect()]).filter(t => t[1].width > 0);
      texts.forEach(([s, a], i) => {
        if (a.left < 0 || a.right > width) say('"' + s + '" sticks out of ' + name);
        for (const [other, b] of texts.slice(i + 1))
          if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) say('"' + s + '" lies on "' + other + '" in ' + name);
      });
    }
    for (const s of page.querySelectorAll('script, [onerror], iframe, img, object')) say('foreign element ' + s.tagName);
  }
  document.body.textContent = found.join('\n') + '\nlooked at ' + document.title;
}`

// The pages render in a browser on a phone and on a desk: every sample, the
// hostile one too.
func TestPagesInBrowser(t *testing.T) {
	browser := findBrowser()
	if browser == "" {
		t.Skip("no Chromium here: install the package chromium to look at the pages in it")
	}
	all := pages(t)
	var page strings.Builder
	fmt.Fprintf(&page, "<!doctype html><meta charset=utf-8><title>%d pages</title><script>%s</script><body>", 2*len(all), inspector)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, width := range []int{375, 1200} {
			fmt.Fprintf(&page, `<iframe title="%s at %d" style="border:0;width:%dpx;height:900px" srcdoc="%s"></iframe>`, name, width, width, html.EscapeString(all[name]))
		}
	}
	dom := dump(t, browser, page.String())
	if !strings.Contains(dom, fmt.Sprintf("looked at %d pages", 2*len(all))) {
		t.Fatalf("the browser did not look at the pages; it shows: %.2000s", dom)
	}
	body := dom[strings.Index(dom, "<body>"):]
	if problems := strings.TrimSpace(body[len("<body>"):strings.Index(body, "looked at")]); problems != "" {
		t.Errorf("the pages have problems:\n%s", html.UnescapeString(problems))
	}
}

func findBrowser() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// dump returns the document after its scripts ran.
func dump(t *testing.T, browser, page string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return browse(t, browser, dir, "--window-size=1300,2000", "--dump-dom", "file://"+file)
}

// browse runs the browser without a window and returns what it prints.
func browse(t *testing.T, browser, dir string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, browser, append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--user-data-dir=" + filepath.Join(dir, "profile")}, args...)...)
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", browser, err, messages.String())
	}
	return string(out)
}

// Pages of trials that other metrics than goodput decide, on a phone and on
// paper: a screenshot must have the arms' colours, a print must hold pages.
func TestScreenshotAndPrint(t *testing.T) {
	browser := findBrowser()
	if browser == "" {
		t.Skip("no Chromium here: install the package chromium to look at the pages in it")
	}
	all := pages(t)
	for _, name := range []string{"http", "shares"} {
		dir := t.TempDir()
		page, shot, paper := filepath.Join(dir, "page.html"), filepath.Join(dir, "shot.png"), filepath.Join(dir, "page.pdf")
		if err := os.WriteFile(page, []byte(all[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		browse(t, browser, dir, "--window-size=500,2400", "--screenshot="+shot, "file://"+page)
		f, err := os.Open(shot)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := png.Decode(f)
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		colours := map[color.Color]int{}
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				colours[picture.At(x, y)]++
			}
		}
		if b := picture.Bounds(); b.Dx() != 500 || b.Dy() != 2400 || len(colours) < 50 {
			t.Errorf("%s: a screenshot of %v with %d colours", name, b, len(colours))
		}
		browse(t, browser, dir, "--no-pdf-header-footer", "--print-to-pdf="+paper, "file://"+page)
		data, err := os.ReadFile(paper)
		if n := bytes.Count(data, []byte("/Type /Page\n")); err != nil || !bytes.HasPrefix(data, []byte("%PDF-")) || n < 2 || n > 12 {
			t.Errorf("%s: a print of %d pages, %d bytes: %v", name, n, len(data), err)
		}
	}
}
