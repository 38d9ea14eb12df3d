//go:build goexperiment.jsonv2

package jsonfile_test

import "encoding/json/v2"

func init() {
	decoders["v2"] = func(data []byte) error {
		var d dependencies
		return json.Unmarshal(data, &d)
	}
}
