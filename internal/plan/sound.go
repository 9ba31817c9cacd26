package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
	"github.com/wirerate/wirerate/internal/conffile"
	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/name"
	"github.com/wirerate/wirerate/internal/regexp"
)

// Read reads a plan that was written as JSON, or several, and checks every name
// and value in it: a plan may come from anybody.
func Read(c *catalog.Catalog, data []byte) ([]Plan, error) {
	var plans []Plan
	if err := input.JSON("the plan", data, &plans); errors.As(err, new(*input.TooMany)) {
		return nil, err
	} else if err != nil {
		var one Plan
		if err := json.Unmarshal(data, &one); err != nil {
			return nil, fmt.Errorf("not a plan of wirerate: %w", err)
		}
		plans = []Plan{one}
	}
	for _, p := range plans {
		if p.Schema != Schema || p.System == "" {
			return nil, fmt.Errorf("not a plan that this version reads: its schema is %d, and %d is expected; make "+
				"it anew with wirerate plan -o", p.Schema, Schema)
		}
		if err := p.Check(c); err != nil {
			return nil, err
		}
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("not a plan of wirerate that this version reads")
	}
	return plans, nil
}

// Check returns what is wrong with a plan's names and values: settings that no
// plan has, names that no system gives, values that are more than words.
func (p Plan) Check(c *catalog.Catalog) error {
	if !slices.Contains(catalog.Systems(), p.System) {
		return fmt.Errorf("the plan is for a system %+q, which is not known", shortened(string(p.System)))
	}
	if p.Role != "" && !slices.Contains(catalog.Roles(), p.Role) {
		return fmt.Errorf("the plan's role %+q is none of %s", shortened(p.Role), strings.Join(catalog.Roles(), ", "))
	}
	if err := name.OfRelease.Check(p.System, string(p.Release)); p.Release != "" && err != nil {
		return fmt.Errorf("the plan's release: %w", err)
	}
	for _, ch := range p.Changes {
		if err := p.unsound(ch); err != nil {
			return fmt.Errorf("the plan's setting %+q: %w", shortened(ch.Setting), err)
		}
		if base, _, _ := strings.Cut(ch.Setting, "@"); !steered(base) {
			if _, known := c.Lookup(p.System, base); !known {
				return fmt.Errorf("the plan's setting %s: the catalog does not know it, and no plan has it", ch.Setting)
			}
		}
	}
	for _, a := range p.Aggregates {
		if err := p.unsoundAggregate(a); err != nil {
			return fmt.Errorf("the plan's aggregate %+q: %w", shortened(string(a.Name)), err)
		}
	}
	for _, b := range p.Bindings {
		if err := p.unsoundInterface(b.NIC); err != nil {
			return fmt.Errorf("the plan's interface %+q: %w", shortened(string(b.NIC)), err)
		}
	}
	return nil
}

// shownBytes is how much is shown of a name that is none.
const shownBytes = 60

func shortened(text string) string {
	if len(text) <= shownBytes {
		return text
	}
	return text[:shownBytes] + "..."
}

// sound is the plan without what cannot be written: each generator of files
// begins with it, also on a plan that nobody checked.
func (p Plan) sound() Plan {
	if !slices.Contains(catalog.Roles(), p.Role) {
		p.Role = ""
	}
	p.Changes = slices.DeleteFunc(slices.Clone(p.Changes), func(ch Change) bool { return p.unsound(ch) != nil })
	p.Aggregates = slices.DeleteFunc(slices.Clone(p.Aggregates),
		func(a Aggregate) bool { return p.unsoundAggregate(a) != nil })
	p.Bindings = slices.DeleteFunc(slices.Clone(p.Bindings),
		func(b Binding) bool { return p.unsoundInterface(b.NIC) != nil })
	return p
}

// withoutUnsound keeps back the changes that cannot be written, with the reason.
func (p *Plan) withoutUnsound() {
	p.Changes = slices.DeleteFunc(p.Changes, func(ch Change) bool {
		err := p.unsound(ch)
		if err != nil {
			p.keep(fmt.Sprintf("%+q", shortened(ch.Setting)), "", "not planned: "+err.Error())
		}
		return err != nil
	})
}

// unfitShown is how many names that cannot be written a plan warns of.
const unfitShown = 10

// unfit says which names of the host keep a setting from being planned.
func (p *Plan) unfit(c *catalog.Catalog, names []facts.Unfit) {
	shown := 0
	for _, u := range names {
		switch u.Kind {
		case name.OfInterface, name.OfDriver, name.OfModule, name.OfHash, name.OfMask, name.OfProcessors,
			name.OfInterrupt:
		case name.OfSetting:
			if _, planned := c.Lookup(p.System, u.Text); !planned {
				continue
			}
		default:
			continue
		}
		subject := fmt.Sprintf("%s %+q", u.Kind, shortened(u.Text))
		p.keep(subject, "", "not planned: "+u.Because)
		if shown++; shown <= unfitShown {
			p.Warnings = append(p.Warnings, "not planned: "+subject+": "+u.Because)
		}
	}
	if shown > unfitShown {
		p.Warnings = append(p.Warnings, fmt.Sprintf("not planned: %d more names that cannot be written",
			shown-unfitShown))
	}
}

// settingForm is what the name of a setting looks like without its interface:
// a path of the kernel, or words with dots, a form and a colon before them.
var settingForm = regexp.MustCompile(`^(/(sys|proc)(/[A-Za-z0-9_][A-Za-z0-9_.:-]*)+|[A-Za-z0-9_][A-Za-z0-9_.:/%-]*)$`)

// lineForms are the names that stand in a file of assignments, by what they
// belong to.
var lineForms = map[string]*regexp.Regexp{
	"sysctl": regexp.MustCompile(`^[A-Za-z0-9_]+[./][A-Za-z0-9_./%-]+$`),
	"loader": regexp.MustCompile(`^[A-Za-z0-9_.-]+$`),
	"rc":     regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`),
	"pf":     regexp.MustCompile(`^pf:set/[a-z./-]+$`),
}

// climbs are the names that lead out of their folder when they become a path,
// also of a sysctl, in which dots and slashes change places.
var climbs = regexp.MustCompile(`\.\.|//|\./|/\.|/$`)

// steeredFile are the files of the kernel that a plan writes beside the
// settings of the catalog.
var steeredFile = regexp.MustCompile(
	`^/sys/class/net/[A-Za-z0-9_.-]+/queues/[rt]x-[0-9]+/(rps_cpus|rps_flow_cnt|xps_cpus)$|` +
		`^/proc/irq/[0-9]+/smp_affinity_list$`)

func steered(setting string) bool {
	return steeredFile.MatchString(setting) && path.Clean(setting) == setting
}

// unsound returns why a change cannot be written into files and commands.
func (p Plan) unsound(ch Change) error {
	base, on, at := strings.Cut(ch.Setting, "@")
	if len(base) > 255 || !settingForm.MatchString(base) || climbs.MatchString(base) {
		return fmt.Errorf("it is not the name of one setting")
	}
	if at && !(on == "default" && strings.HasPrefix(base, "route:")) {
		if err := p.unsoundInterface(name.Interface(on)); err != nil {
			return err
		}
	}
	if err := name.Value(ch.To); err != nil {
		return err
	}
	if option := strings.HasPrefix(ch.To, "-") && strings.Trim(ch.To[1:], "0123456789") != ""; option {
		return fmt.Errorf("its value looks like an option of a program")
	}
	for _, pl := range places(p.System) {
		if pl.belongs == ch.Belongs {
			if form := lineForms[pl.belongs]; form != nil && !form.MatchString(ch.Setting) {
				return fmt.Errorf("it is not a line of %s", pl.format)
			}
			_, err := pl.line(p.System, ch.Setting, ch.To)
			return err
		}
	}
	if lineForms[ch.Belongs] != nil {
		return fmt.Errorf("%s has no file for what belongs to %s", p.System, ch.Belongs)
	}
	return nil
}

func (p Plan) unsoundInterface(nic name.Interface) error {
	_, err := name.ParseInterface(p.System, string(nic))
	return err
}

func (p Plan) unsoundAggregate(a Aggregate) error {
	for _, nic := range append([]name.Interface{a.Name}, a.Links...) {
		if err := p.unsoundInterface(nic); err != nil {
			return err
		}
	}
	if a.Hash == "" {
		return nil
	}
	return name.OfHash.Check(p.System, a.Hash)
}

// line is the assignment of one change, in the place's format.
func (pl place) line(system catalog.System, setting, value string) (string, error) {
	if module, isParameter := strings.CutPrefix(setting, "module:"); pl.belongs == "module" &&
		!(isParameter && strings.Contains(module, "/")) {
		return "# " + module + " is loaded by modules-load.d\n", name.OfModule.Check(system, module)
	}
	return conffile.Line(conffile.Kind(pl.format), conffile.System(system), setting, value)
}
