package lab

// Profile is a named link with the source of its numbers.
type Profile struct {
	Name   string `json:"name"`
	Link   string `json:"link"` // as ParseLink reads it
	About  string `json:"about"`
	Source string `json:"source"`
}

// Profiles lists the named links.
func Profiles() []Profile {
	return []Profile{
		{
			Name: "metro-1g", Link: "rate=1gbit,rtt=2ms,queue=512KiB",
			About:  "gigabit Ethernet service within a city",
			Source: "definition: 1000BASE-T; 2 ms is 200 km of fibre there and back at 5 us/km",
		},
	}
}

// FindProfile returns the profile of that name.
func FindProfile(name string) (Profile, bool) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}
