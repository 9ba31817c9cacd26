package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/wirerate/wirerate/internal/facts"
	"github.com/wirerate/wirerate/internal/host"
)

type captureOptions struct {
	output, window string
	redact         bool
}

func newCaptureCmd(env *Env) *cobra.Command {
	var opt captureOptions
	cmd := &cobra.Command{
		Use:   "capture [HOST] -o FILE",
		Short: "Record a host, for inspect and lint elsewhere",
		Long: `Record a host's answers to inspect's questions in a .tar.gz of text files,
which inspect --from and lint --from read. Keys and machine identifiers are
always left out; --redact also masks addresses and host names, the same value
with the same mask, and keeps only network messages of the kernel's log.`,
		Example: `  wirerate capture ssh://root@web1 -o web1.tar.gz --redact
  wirerate inspect --from web1.tar.gz`,
		Args: cobra.MaximumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVarP(&opt.output, "output", "o", "", "`file` to write, a .tar.gz; - is standard output")
	f.StringVar(&opt.window, "for", "", "observe the counters for this `time` as well, such as 5s")
	f.BoolVar(&opt.redact, "redact", false, "mask addresses and host names")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name := "local"
		if len(args) == 1 {
			name = args[0]
		}
		return capture(cmd.Context(), env, opt, name)
	}
	return cmd
}

func capture(ctx context.Context, env *Env, opt captureOptions, name string) error {
	if opt.output == "" {
		return usagef("name the file to write: -o FILE.tar.gz")
	}
	if _, err := os.Stat(filepath.Dir(opt.output)); err != nil {
		return usage(fmt.Errorf("output folder: %w", err))
	}
	window, err := parseWindow(opt.window)
	if err != nil {
		return usage(err)
	}
	c, err := env.open(ctx, name)
	if err != nil {
		return err
	}
	defer c.Close()
	recorder := host.Record(c)
	f, err := facts.Collect(ctx, recorder, facts.Options{Window: window, Thorough: true})
	if err != nil {
		return failure(err)
	}
	recording := recorder.Capture(time.Now())
	facts.Redact(recording, opt.redact)
	var b bytes.Buffer
	if _, err := recording.WriteTo(&b); err != nil {
		return failure(err)
	}
	if opt.output == "-" {
		_, err := env.Stdout.Write(b.Bytes())
		return failure(err)
	}
	if err := os.WriteFile(opt.output, b.Bytes(), 0o600); err != nil {
		return failure(err)
	}
	read := 0
	for _, p := range f.Parts {
		if p.State == facts.Read {
			read++
		}
	}
	env.note("%s: %d of %d sources read, %d bytes", opt.output, read, len(f.Parts), b.Len())
	if opt.redact {
		env.note("addresses and names are masked; look through it before you give it away")
	}
	env.printf("wirerate inspect --from %s\n", opt.output)
	return nil
}
