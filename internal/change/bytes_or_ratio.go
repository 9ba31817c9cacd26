package change

// pairOf names the setting of which only one of two counts: the other one is
// then 0, and is made so by writing the one that counts. A 0 cannot be written
// to the one in bytes, and written to the one in percent leaves neither
// (mm/page-writeback.c, dirty_bytes_handler and its fellows). "" for any other.
func pairOf(setting string) string {
	switch setting {
	case "vm.dirty_bytes":
		return "vm.dirty_ratio"
	case "vm.dirty_ratio":
		return "vm.dirty_bytes"
	case "vm.dirty_background_bytes":
		return "vm.dirty_background_ratio"
	case "vm.dirty_background_ratio":
		return "vm.dirty_background_bytes"
	}
	return ""
}

// settled returns what is to be written so that a setting of a pair gets its
// value: the other one where this one is to be 0; nothing, by false, where the
// other one is changed and this one only keeps what it was.
func (c *Change) settled(a assignment, values map[string]string) (assignment, bool) {
	j, ok := c.index[pairOf(c.Items[a.item].Setting)]
	if !ok {
		return a, true
	}
	other := c.Items[j]
	wanted, given := values[other.Setting]
	if !given {
		wanted = other.Old
	}
	switch {
	case a.value == "0" && wanted != "0" && wanted != "":
		return assignment{j, wanted}, true
	case given && a.value == c.Items[a.item].Old && wanted != other.Old && wanted != "0":
		return a, false
	}
	return a, true
}
