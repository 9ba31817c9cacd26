package plan

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/wirerate/wirerate/internal/catalog"
)

var nicWord = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]{0,14}$`)

// DescribedInterfaces reads a comma-separated list of interfaces of a machine
// that is only described: a driver, NAME:DRIVER, or on the BSDs a name, which
// is its driver's with a number. What had to be assumed is said.
func DescribedInterfaces(system catalog.System, list string) ([]Interface, []string, error) {
	var nics []Interface
	var assumed []string
	seen := map[string]bool{}
	for i, word := range strings.Split(list, ",") {
		name, driver, both := strings.Cut(word, ":")
		if !nicWord.MatchString(name) || both && !nicWord.MatchString(driver) {
			return nil, nil, fmt.Errorf("%q: a driver such as ix, or NAME:DRIVER such as eth0:igb, is expected", word)
		}
		stem := strings.TrimRight(name, "0123456789")
		switch {
		case both:
		case system == catalog.Linux:
			driver, name = name, fmt.Sprintf("eth%d", i)
			assumed = append(assumed, fmt.Sprintf("the interface of driver %s is called %s in the files, as its name is not known: give it as --nic NAME:%s", driver, name, driver))
		case stem != name && stem != "":
			driver = stem
		default:
			driver, name = name, fmt.Sprintf("%s%d", name, countOf(nics, name))
		}
		if seen[name] {
			return nil, nil, fmt.Errorf("%s is named twice", name)
		}
		seen[name] = true
		nics = append(nics, Interface{Name: name, Driver: driver})
	}
	return nics, assumed, nil
}

func countOf(nics []Interface, driver string) int {
	n := 0
	for _, nic := range nics {
		if nic.Driver == driver {
			n++
		}
	}
	return n
}
