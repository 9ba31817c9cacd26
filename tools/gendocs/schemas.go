package main

import (
	"encoding/json"
	"path"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/wirerate/wirerate/internal/cli"
	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/lab"
)

// schemaPages returns the JSON Schema of each document that the program writes,
// made from the types; root is the folder of go.mod.
func schemaPages(root string) ([]page, error) {
	comments, err := typeComments(filepath.Join(root, "internal"))
	if err != nil {
		return nil, err
	}
	var pages []page
	for _, d := range cli.Documents() {
		r := &reflector{named: map[string]reflect.Type{}}
		r.Reflector = jsonschema.Reflector{Anonymous: true, AllowAdditionalProperties: true, Namer: r.name, Mapper: mapped,
			CommentMap: comments}
		data, err := json.MarshalIndent(r.document(d), "", "  ")
		if err != nil {
			return nil, err
		}
		pages = append(pages, page{"schema/" + strings.TrimSuffix(d.Name, ".json") + suffix(d.Name), append(data, '\n')})
	}
	return pages, nil
}

// typeComments are the comments of the types below a folder and of their fields,
// by their names with the package's path.
func typeComments(folder string) (map[string]string, error) {
	var r jsonschema.Reflector
	if err := r.AddGoComments("", folder, jsonschema.WithFullComment()); err != nil {
		return nil, err
	}
	comments := map[string]string{}
	for name, text := range r.CommentMap {
		if at := strings.Index(name, "internal/"); at >= 0 {
			comments["github.com/wirerate/wirerate/"+name[at:]] = strings.Join(strings.Fields(text), " ")
		}
	}
	return comments, nil
}

// suffix tells the schema of a file from that of a verb.
func suffix(name string) string {
	if strings.HasSuffix(name, ".json") {
		return ".file.json"
	}
	return ".json"
}

// reflector makes schemas and remembers the types of their definitions.
type reflector struct {
	jsonschema.Reflector
	named map[string]reflect.Type
}

// name is a type's name with its package's, since several have a Fix or Host.
func (r *reflector) name(t reflect.Type) string {
	if t.Name() == "" {
		return ""
	}
	name := path.Base(t.PkgPath()) + "." + t.Name()
	r.named[name] = t
	return name
}

func (r *reflector) document(d cli.Document) *jsonschema.Schema {
	whole := &jsonschema.Schema{Version: jsonschema.Version, Title: d.Title, Definitions: jsonschema.Definitions{}}
	for _, form := range d.Forms {
		s := r.Reflect(form)
		for name, def := range s.Definitions {
			whole.Definitions[name] = def
		}
		s.Definitions, s.Version = nil, ""
		whole.AnyOf = append(whole.AnyOf, s)
	}
	for name, def := range whole.Definitions {
		if t := r.named[name]; t != nil && def.Properties != nil {
			nullable(t, def)
		}
	}
	if len(whole.AnyOf) == 1 {
		whole.Ref, whole.Type, whole.Items, whole.AnyOf = whole.AnyOf[0].Ref, whole.AnyOf[0].Type, whole.AnyOf[0].Items, nil
	}
	return whole
}

// nullable allows null where encoding/json writes it: for pointers, slices and
// maps that are nil, unless they are left out then.
func nullable(t reflect.Type, def *jsonschema.Schema) {
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || strings.Contains(options, "omit") {
			continue
		}
		switch field.Type.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			if s, ok := def.Properties.Get(name); ok {
				about := s.Description
				s.Description = ""
				def.Properties.Set(name, &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}, Description: about})
			}
		}
	}
}

// mapped is the schema of types that write their JSON themselves.
func mapped(t reflect.Type) *jsonschema.Schema {
	null := &jsonschema.Schema{Type: "null"}
	switch t {
	case reflect.TypeFor[lab.Answer]():
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "boolean"}, null}, Description: "null: not known"}
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	case reflect.TypeFor[diagnose.Ceiling]():
		text, number := &jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Type: "number"}
		s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"resource",
			"metric", "value", "because", "inputs", "sources", "host"},
			Description: "The bound that one resource sets; its value also has the metric's name as a key."}
		s.Properties.Set("resource", text)
		s.Properties.Set("metric", text)
		s.Properties.Set("value", &jsonschema.Schema{AnyOf: []*jsonschema.Schema{number, null},
			Description: "null: not known"})
		s.Properties.Set("because", text)
		s.Properties.Set("inputs", &jsonschema.Schema{Type: "object"})
		s.Properties.Set("sources", &jsonschema.Schema{Type: "array", Items: text})
		s.Properties.Set("host", text)
		return s
	}
	return nil
}
