package clients_test

import (
	"os"
	"testing"

	"github.com/copse-dev/copse/internal/test/built"
)

func TestMain(m *testing.M) { os.Exit(built.Main(m)) }
