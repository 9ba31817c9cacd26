package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestPosts reads posts in the shapes in which people write them. Before the line of three dashes stand the facts that
// must come out: a path through the JSON of the facts with "=" and a value, "~" and a part of it, or "absent".
func TestPosts(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/posts.txtar")
	if err != nil || len(archive.Files) < 60 {
		t.Fatalf("%d posts, %v", len(archive.Files), err)
	}
	for _, file := range archive.Files {
		t.Run(file.Name, func(t *testing.T) {
			head, session, ok := strings.Cut(string(file.Data), "\n---\n")
			if !ok {
				t.Fatal("no line of three dashes")
			}
			session = strings.ReplaceAll(session, "\\e", "\x1b")
			posted, err := LoadSession(session)
			if err != nil {
				t.Fatal(err)
			}
			f, err := posted.Facts("post.txt")
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(f)
			if err != nil {
				t.Fatal(err)
			}
			var all any
			if err := json.Unmarshal(data, &all); err != nil {
				t.Fatal(err)
			}
			for want := range strings.Lines(head) {
				if want = strings.TrimSpace(want); want == "" {
					continue
				}
				if got, ok := holds(all, want); !ok {
					t.Errorf("%s: got %.300s", want, got)
				}
			}
		})
	}
}

func holds(all any, want string) (got string, ok bool) {
	at := max(strings.LastIndex(want, " = "), strings.LastIndex(want, " ~ "), strings.LastIndex(want, " absent"))
	path, value := want[:max(at, 0)], want[max(at, 0)+1:]
	node := descend(all, strings.Split(path, "|"))
	if node != nil {
		data, _ := json.Marshal(node)
		got = strings.Trim(string(data), `"`)
	}
	switch {
	case value == "absent":
		return got, node == nil
	case node == nil:
		return "nothing", false
	case strings.HasPrefix(value, "~ "):
		return got, strings.Contains(got, value[2:])
	}
	return got, got == strings.TrimPrefix(value, "= ")
}

// descend goes down a path: a key of an object, a place in a list, or the row of a list that is called so.
func descend(node any, path []string) any {
	for _, step := range path {
		switch v := node.(type) {
		case map[string]any:
			node = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil {
				i = slices.IndexFunc(v, func(row any) bool {
					fields, _ := row.(map[string]any)
					return slices.ContainsFunc([]string{"name", "id", "local", "stream", "kind", "command", "role"},
						func(key string) bool { return fields[key] != nil && fmt.Sprint(fields[key]) == step })
				})
			}
			if i < 0 || i >= len(v) {
				return nil
			}
			node = v[i]
		default:
			return nil
		}
	}
	return node
}

// FuzzPosts reads any text: what is named as unread stands in it, and no fact is of a line that does not.
func FuzzPosts(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/posts.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		_, session, _ := strings.Cut(string(file.Data), "\n---\n")
		f.Add(session)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all, err := LoadHosts(s)
		if err != nil {
			return
		}
		for _, p := range all {
			facts, err := p.Facts("post.txt")
			if err != nil {
				continue
			}
			lines := strings.Count(s, "\n") + 1
			for _, u := range facts.Unread {
				if u.Line < 0 || !p.moved && u.Line > lines || u.Lines < 1 {
					t.Errorf("%+v of %d lines", u, lines)
				}
			}
			for name, c := range facts.Counters {
				if at := facts.Posted(c.Source); at.Line > lines && !p.moved {
					t.Errorf("%s stands in line %d of %d", name, at.Line, lines)
				}
			}
		}
	})
}
