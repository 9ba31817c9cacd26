package report

import (
	"fmt"

	"github.com/wirerate/wirerate/internal/catalog"
)

// isGone reports whether a release, or without one every release described, lacks a setting that was there once.
func isGone(r *catalog.Record, version catalog.Version) bool {
	if version == "" {
		if r.Removed == "0" {
			return true
		}
		version, _ = catalog.Supported(r.System)
	}
	return r.StateIn(version) == catalog.Gone
}

// settingLife says in which releases the setting exists and what became of it.
func settingLife(p *page, r *catalog.Record, version catalog.Version) {
	system := r.System.Title()
	if version != "" {
		state := map[catalog.State]string{
			catalog.Present: "exists", catalog.NotYet: "does not exist yet", catalog.Gone: "no longer exists",
			catalog.Inactive: "is accepted and does nothing",
		}[r.StateIn(version)]
		p.field("here", fmt.Sprintf("%s in %s %s", state, system, version))
	}
	for _, l := range r.Lifetimes {
		p.field("lifetime", lifetimeWords(l))
	}
	if r.Since != "" {
		p.field("since", fmt.Sprintf("%s %s", system, r.Since))
	}
	if len(r.Backported) > 0 {
		p.field("also in", fmt.Sprintf("later updates of %s %s", system, joinVersions(r.Backported)))
	}
	if len(r.Checked) > 0 {
		p.field("checked", fmt.Sprintf("against running kernels: %s %s", system, joinVersions(r.Checked)))
	}
	if r.NoEffectSince != "" {
		p.field("no effect", fmt.Sprintf("since %s %s: still accepted, ignored", system, r.NoEffectSince))
	}
	switch r.Removed {
	case "":
	case "0": // a misspelling, or a patch that was never part of the system
		p.field("exists", fmt.Sprintf("in no release of %s", system))
	default:
		p.field("removed", fmt.Sprintf("in %s %s", system, r.Removed))
	}
	if r.RenamedTo != "" {
		p.field("now", r.RenamedTo)
	}
	p.field("note", r.Became)
}

// standing is the record as it stands in a release, or without one as it stands in
// the newest that has it.
func standing(r *catalog.Record, version catalog.Version) *catalog.Record {
	if version == "" {
		return r
	}
	return r.In(version)
}

// lifetimeWords says from when to when a setting was there, and how it was set.
func lifetimeWords(l catalog.Lifetime) string {
	words := "active " + kindWords(l.Kind)
	switch {
	case l.Since != "" && l.Removed != "":
		words = fmt.Sprintf("from %s, gone or changed in %s: %s", l.Since, l.Removed, words)
	case l.Since != "":
		words = fmt.Sprintf("from %s: %s", l.Since, words)
	case l.Removed != "":
		words = fmt.Sprintf("before %s: %s", l.Removed, words)
	}
	if l.Note != "" {
		words += " (" + l.Note + ")"
	}
	return words
}

// unknownDefault reports whether nothing at all is known of the default.
func unknownDefault(r *catalog.Record) bool {
	return len(r.Default) == 1 && r.Default[0].Value == "unknown" && r.Default[0].Note == ""
}
