package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/spf13/pflag"

	"github.com/wirerate/wirerate/internal/input"
	"github.com/wirerate/wirerate/internal/lint"
	"github.com/wirerate/wirerate/internal/spelling"
)

// lintConfigName is the file that lint looks for in the folder that holds the
// files and upwards.
const lintConfigName = ".wirerate.yaml"

// lintConfigLimit bounds it, in bytes.
const lintConfigLimit = 64 << 10

// lintConfig is that file: flags of lint by their names.
type lintConfig struct {
	OS      string   `yaml:"os"`
	Version string   `yaml:"version"`
	Role    string   `yaml:"role"`
	Driver  string   `yaml:"driver"`
	Memory  string   `yaml:"memory"`
	Cores   int      `yaml:"cores"`
	Ignore  []string `yaml:"ignore"`
	Level   string   `yaml:"level"`
	FailOn  string   `yaml:"fail-on"`
}

// findLintConfig returns the path of the configuration for the files, "" when
// there is none.
func findLintConfig(args []string) (string, error) {
	dir, err := commonFolder(args)
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, lintConfigName)
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) || parent == dir {
			return "", nil
		}
		dir = parent
	}
}

// commonFolder is the folder that holds all of the files and folders; the
// current one for standard input.
func commonFolder(args []string) (string, error) {
	common := ""
	for _, arg := range args {
		if arg == "-" {
			arg = "."
		}
		dir, err := filepath.Abs(arg)
		if err != nil {
			return "", err
		}
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			dir = filepath.Dir(dir)
		}
		if common == "" {
			common = dir
		}
		for common != dir && !strings.HasPrefix(dir, strings.TrimSuffix(common, "/")+"/") {
			common = filepath.Dir(common)
		}
	}
	return common, nil
}

// configure fills in from a configuration file what the command line leaves
// open. Codes to ignore add up.
func (o *lintOptions) configure(path string, flags *pflag.FlagSet) error {
	data, err := input.File(path, lintConfigLimit)
	if err != nil {
		return err
	}
	var c lintConfig
	if len(strings.TrimSpace(string(data))) > 0 {
		if err := yaml.UnmarshalWithOptions(data, &c, yaml.Strict()); err != nil {
			return fmt.Errorf("%s: %s", path, yaml.FormatError(err, false, false))
		}
	}
	for _, f := range []struct {
		flag, value string
		to          *string
	}{{"os", c.OS, &o.system}, {"version", c.Version, &o.version}, {"role", c.Role, &o.role}, {"driver",
		c.Driver, &o.driver},
		{"memory", c.Memory, &o.memory}, {"level", c.Level, &o.level}, {"fail-on", c.FailOn, &o.failOn}} {
		if f.value != "" && !flags.Changed(f.flag) {
			*f.to = f.value
		}
	}
	if c.Cores != 0 && !flags.Changed("cores") {
		o.cores = c.Cores
	}
	o.ignore = append(o.ignore, c.Ignore...)
	return nil
}

// checkCodes refuses codes that lint does not have.
func checkCodes(codes []string) error {
	for _, code := range codes {
		if _, known := lint.FindCode(code); known {
			continue
		}
		var all []string
		for _, c := range lint.Codes() {
			all = append(all, c.ID)
		}
		slices.SortStableFunc(all, func(a, b string) int { return spelling.Edits(code, a) - spelling.Edits(code, b) })
		return fmt.Errorf("--ignore %q: no such code; did you mean %s? docs/lint.md and wirerate explain CODE describe them",
			code, all[0])
	}
	return nil
}
