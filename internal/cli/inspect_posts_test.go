package cli

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/netpath"
	"github.com/wirerate/wirerate/internal/transcript"
)

// TestPosts holds that the cause of each post is named and nothing false beside it: "cause" lists the rules that name it,
// "also" those that are right besides. Infos are hints and not counted as false.
func TestPosts(t *testing.T) {
	files, err := filepath.Glob("testdata/posts/*.txt")
	if err != nil || len(files) < 60 {
		t.Fatalf("%d posts, %v", len(files), err)
	}
	var decidable, named, right, wrong float64
	for _, name := range files {
		c := readCase(t, name)
		found := findingsIn(t, c)
		causes := strings.Fields(c.cause)
		if c.cause != "none" {
			decidable++
			if slices.ContainsFunc(found, func(f diagnose.Finding) bool { return slices.Contains(causes, f.Rule) }) {
				named++
			} else {
				t.Errorf("%s: missed, found %v", name, rules(found))
			}
		}
		for _, f := range found {
			switch {
			case slices.Contains(causes, f.Rule) || slices.Contains(c.also, f.Rule):
				right++
			case f.Severity.AtLeast(diagnose.Warning):
				wrong++
				t.Errorf("%s: false: %s %s: %s", name, f.Rule, f.Subject, f.Summary)
			}
		}
	}
	t.Logf("recall %.3f of %g, precision %.3f of %g", named/decidable, decidable, right/(right+wrong), right+wrong)
}

func findingsIn(t *testing.T, c postedCase) []diagnose.Finding {
	t.Helper()
	posted, err := transcript.LoadSession(c.session)
	if errors.Is(err, transcript.ErrNoOutputs) {
		var all []transcript.Posted
		if all, err = transcript.ReadEach([]byte(c.session)); err == nil {
			posted = all[0]
		}
	}
	if err != nil {
		return nil
	}
	f, err := posted.Facts("posted")
	if err != nil {
		return nil
	}
	in := diagnose.Input{Facts: f, Role: c.role, Written: written(f)}
	in.Path, in.PathFrom = diagnose.ToldPath(f)
	if c.path != "" {
		if in.Path, err = netpath.Parse(c.path); err != nil {
			t.Fatal(err)
		}
	}
	found, _ := diagnose.Evaluate(in)
	return found
}

// TestPostsAgain holds that what is known of a post does not depend on the order of a map.
func TestPostsAgain(t *testing.T) {
	files, err := filepath.Glob("testdata/posts/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := func(session string) string {
		posted, err := transcript.LoadSession(session)
		if err != nil {
			return err.Error()
		}
		f, err := posted.Facts("posted")
		if err != nil {
			return err.Error()
		}
		text, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, name := range files {
		c := readCase(t, name)
		first := known(c.session)
		for range 2 {
			if again := known(c.session); again != first {
				t.Errorf("%s: read differently the second time:\n%s\n%s", name, first, again)
				break
			}
		}
	}
}
