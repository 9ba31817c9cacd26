package facts

func (f *Facts) freebsdReaders() []reader  { return nil }
func (f *Facts) openbsdReaders() []reader  { return nil }
func (f *Facts) readIfconfig(t text) error { return nil }
