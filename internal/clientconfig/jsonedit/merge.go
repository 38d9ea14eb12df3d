package jsonedit

import "encoding/json"

// Merge returns over with the members that only under has, at every depth. A value that is not an
// object replaces the other one.
func Merge(under, over json.RawMessage) json.RawMessage {
	var low, high map[string]json.RawMessage
	if json.Unmarshal(under, &low) != nil || json.Unmarshal(over, &high) != nil || low == nil || high == nil {
		return over
	}
	for key, value := range high {
		if lower, ok := low[key]; ok {
			value = Merge(lower, value)
		}
		low[key] = value
	}
	data, err := json.Marshal(low)
	if err != nil {
		return over
	}
	return data
}
