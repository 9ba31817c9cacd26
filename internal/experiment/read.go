package experiment

import (
	"encoding/json"
	"fmt"

	"github.com/wirerate/wirerate/internal/diagnose"
	"github.com/wirerate/wirerate/internal/input"
)

// ReadResult reads what result.json holds. A result of another schema is an
// error.
func ReadResult(data []byte) (Result, error) {
	var r Result
	if err := input.JSON("result", data, &r); err != nil {
		return Result{}, fmt.Errorf("result: this is not the JSON of a result: %w", err)
	}
	if r.Schema != ResultSchema {
		return Result{}, fmt.Errorf("result: schema %d is not known to this version, which reads %d", r.Schema,
			ResultSchema)
	}
	// A ceiling that is not known has the value null.
	type value struct{ Value *float64 }
	var values struct {
		Ceilings []value `json:"ceilings"`
		After    []value `json:"ceilings_after"`
	}
	if err := json.Unmarshal(data, &values); err != nil {
		return Result{}, fmt.Errorf("result: the ceilings are not understood: %w", err)
	}
	mark := func(ceilings []diagnose.Ceiling, values []value) {
		for i := range ceilings {
			ceilings[i].Known = values[i].Value != nil
		}
	}
	mark(r.Ceilings, values.Ceilings)
	mark(r.After, values.After)
	return r, nil
}
