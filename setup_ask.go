package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// mostQuestions bounds a dialog with something that is not a person.
const mostQuestions = 100

// longestAnswer is in bytes.
const longestAnswer = 16 << 10

var (
	errInterrupted = errors.New("interrupted; nothing was written")
	errInputEnded  = errors.New("the input ended before everything was answered; nothing was written")
	errTooMany     = errors.New("too many answers that do not work; nothing was written")
	errLongAnswer  = errors.New("a line of the input is far too long for an answer; nothing was written")
)

// A dialog asks questions, at a terminal or of what is piped in. It prints no
// answer.
type dialog struct {
	in       *bufio.Reader
	terminal *os.File // nil if nobody sits there
	out      io.Writer
	asked    int
}

func newDialog(in io.Reader, out io.Writer) *dialog {
	d := &dialog{in: bufio.NewReaderSize(in, longestAnswer), out: out}
	if f, ok := in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		d.terminal = f
	}
	return d
}

func (d *dialog) print(text string) { fmt.Fprint(d.out, text) }

// say prints a line for each line of a text, in the form of the command check.
func (d *dialog) say(what, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(d.out, "%-5s %s\n", what, line)
	}
}

// ask asks for a line. Enter stands for usual, if there is such a thing.
func (d *dialog) ask(ctx context.Context, question, usual string) (string, error) {
	if usual != "" {
		question += " [" + usual + "]"
	}
	d.print(question + ": ")
	line, err := d.read(ctx, d.line)
	if d.terminal == nil {
		d.print("\n")
	}
	return line, err
}

// secret asks for a line that does not appear on the screen.
func (d *dialog) secret(ctx context.Context, question string) (string, error) {
	if d.terminal == nil {
		return d.ask(ctx, question, "")
	}
	fd := int(d.terminal.Fd())
	shown, _ := term.GetState(fd)
	line, err := d.read(ctx, func() (string, error) {
		var asked sync.WaitGroup
		asked.Go(func() {
			awaitChange(fd, shown)
			d.print(question + " (stays invisible): ")
		})
		line, err := term.ReadPassword(fd)
		asked.Wait()
		return string(line), err
	})
	d.print("\n")
	return line, err
}

// awaitChange waits, for a moment at most, until a terminal is not in a state
// any more. A question for a secret comes after that: what is pasted at once
// would still be shown.
func awaitChange(fd int, from *term.State) {
	for range 200 {
		now, err := term.GetState(fd)
		if err != nil || from == nil || *now != *from {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// line reads one, the last without a line break too.
func (d *dialog) line() (string, error) {
	line, err := d.in.ReadSlice('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil
	}
	return string(line), err
}

// read waits for a line, or for ctx. In that case the reading goes on until
// the process ends, which it does at once: nothing can end a read of a
// terminal.
func (d *dialog) read(ctx context.Context, line func() (string, error)) (string, error) {
	if d.asked++; d.asked > mostQuestions {
		return "", errTooMany
	}
	restore := d.keepState()
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := line()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		switch {
		case errors.Is(r.err, io.EOF):
			return "", errInputEnded
		case errors.Is(r.err, bufio.ErrBufferFull):
			return "", errLongAnswer
		case r.err != nil:
			return "", fmt.Errorf("the input cannot be read: %s; nothing was written", reason(r.err))
		}
		return r.line, nil
	case <-ctx.Done():
		restore()
		return "", errInterrupted
	}
}

// keepState returns what shows again what is typed, should a read that hides it
// be left behind.
func (d *dialog) keepState() (restore func()) {
	if d.terminal == nil {
		return func() {}
	}
	fd := int(d.terminal.Fd())
	state, err := term.GetState(fd)
	if err != nil {
		return func() {}
	}
	return func() { _ = term.Restore(fd, state) }
}

// mostOffered is how many models are listed at once.
const mostOffered = 30

// askModel offers what the service lists. A number picks a line; where the list
// is long, a part of a name shows those that have it.
func (s *setup) askModel(ctx context.Context) (string, error) {
	usual := s.model.value
	if usual == "" {
		usual = s.usualModel()
	}
	offered := s.models
	for {
		question := "Model"
		switch {
		case len(offered) > mostOffered:
			question = fmt.Sprintf("Model, of %d; a part of a name lists those that have it", len(offered))
			offered = nil
		case len(offered) > 0:
			s.offer(offered)
			question = "Model, by name or number"
		}
		line, err := s.dialog.ask(ctx, question, usual)
		line = strings.TrimSpace(line)
		if err != nil || slices.Contains(s.models, line) {
			return line, err
		}
		if line == "" {
			return usual, nil
		}
		if n, err := strconv.Atoi(line); err == nil && n >= 1 && n <= len(offered) {
			return offered[n-1], nil
		}
		if offered = s.having(line); len(offered) == 0 || len(s.models) <= mostOffered {
			return line, nil // services take names that they do not list
		}
	}
}

func (s *setup) offer(models []string) {
	for i, name := range models {
		s.dialog.print(fmt.Sprintf("%5d  %s\n", i+1, name))
	}
}

// having lists the models with a text in their name.
func (s *setup) having(text string) (found []string) {
	for _, name := range s.models {
		if strings.Contains(strings.ToLower(name), strings.ToLower(text)) {
			found = append(found, name)
		}
	}
	return found
}

// usualModel is the only one that there is, or the example's.
func (s *setup) usualModel() string {
	example := exampleValue(s.model.setting)
	switch {
	case len(s.models) == 1:
		return s.models[0]
	case slices.Contains(s.models, example):
		return example
	}
	return ""
}
