package lab

import "encoding/json"

// Answer is yes, no or, as its zero value, unknown; in JSON true, false or null.
type Answer string

// Answers.
const (
	Unknown Answer = ""
	Yes     Answer = "yes"
	No      Answer = "no"
)

// AnswerOf is Yes or No.
func AnswerOf(yes bool) Answer {
	if yes {
		return Yes
	}
	return No
}

// String is a word for people.
func (a Answer) String() string {
	if a == Unknown {
		return "unknown"
	}
	return string(a)
}

// MarshalJSON returns true, false or null.
func (a Answer) MarshalJSON() ([]byte, error) {
	word := "null"
	switch a {
	case Yes:
		word = "true"
	case No:
		word = "false"
	}
	return []byte(word), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (a *Answer) UnmarshalJSON(data []byte) error {
	var yes *bool
	if err := json.Unmarshal(data, &yes); err != nil {
		return err
	}
	*a = Unknown
	if yes != nil {
		*a = AnswerOf(*yes)
	}
	return nil
}
