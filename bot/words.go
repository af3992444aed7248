package bot

import (
	"fmt"
	"strings"
	"time"

	"lastword/conversation"
)

// words are all texts of the bot itself in one language. Those that end in Fmt
// are formats: of an id, or as their comment says.
type words struct {
	start, help string

	resetDone, nothingToDrop                       string
	stopDone, stopDropped, stopRest, nothingToStop string
	halted                                         string // the last line of an answer that was stopped
	failedFmt, tooLongFmt, unanswerableFmt         string // of the short id that finds the error in the log
	undeliveredFmt, doubtfulFmt                    string // likewise
	statusVersionFmt, statusWaitingFmt             string // of a number
	statusTokensFmt                                string // of the numbers of prompt and completion tokens
	statusWorking, statusIdle, statusRecent        string
	outcomes                                       map[conversation.Outcome]string
	now, secondsFmt, minutesFmt, hoursFmt, daysFmt string                         // ages
	working                                        string                         // with a button to stop
	outdated, redoing, busy, showing               string                         // answers to a button, up to 200 characters
	labels                                         map[conversation.Action]string // of buttons
	paired, strangerFmt, strangeGroup              string
	notOwner, allowUsage, openToAll                string
	allowedFmt, deniedFmt, cannotDenyFmt, tookFmt  string
	commands                                       map[string]string // descriptions in the menu
}

// byLanguage holds the languages by their ISO 639-1 code.
var byLanguage = map[string]*words{"en": &english, "ru": &russian, "zh": &chinese}

// languages lists the codes, in a fixed order.
func languages() []string { return []string{"en", "ru", "zh"} }

// wordsFor chooses by the language that a client reports, such as pt-br.
func wordsFor(tag string) *words {
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(tag, "_", "-")), "-")
	if w := byLanguage[code]; w != nil {
		return w
	}
	return &english
}

// noticeText words a notice.
func noticeText(n conversation.Notice, now time.Time) string {
	w := wordsFor(n.Language)
	switch n.Code {
	case conversation.Said:
		return n.Text
	case conversation.ResetDone:
		return w.resetDone
	case conversation.NothingToDrop:
		return w.nothingToDrop
	case conversation.StopDone:
		return w.stopDone
	case conversation.StopDropped:
		return w.stopDropped
	case conversation.StopRest:
		return w.stopRest
	case conversation.NothingToStop:
		return w.nothingToStop
	case conversation.StatusReport:
		return w.status(n.Status, now)
	case conversation.TooLong:
		return fmt.Sprintf(w.tooLongFmt, n.ID)
	case conversation.Unanswerable:
		return fmt.Sprintf(w.unanswerableFmt, n.ID)
	case conversation.Undelivered:
		return fmt.Sprintf(w.undeliveredFmt, n.ID)
	case conversation.Halted:
		return w.halted
	case conversation.Doubtful:
		return fmt.Sprintf(w.doubtfulFmt, n.ID)
	case conversation.Working:
		return w.working
	}
	return fmt.Sprintf(w.failedFmt, n.ID) // also of a code that is newer than this table
}

// toastText words the answer to a press; empty for none.
func toastText(n conversation.Notice) string {
	w := wordsFor(n.Language)
	switch n.Code {
	case conversation.Outdated:
		return w.outdated
	case conversation.Redoing:
		return w.redoing
	case conversation.Busy:
		return w.busy
	case conversation.Showing:
		return w.showing
	}
	return ""
}

// status words a status report, one fact a line.
func (w *words) status(s *conversation.Status, now time.Time) string {
	if s == nil {
		s = &conversation.Status{}
	}
	working := w.statusIdle
	if s.Working {
		working = w.statusWorking
	}
	lines := []string{
		working,
		fmt.Sprintf(w.statusWaitingFmt, s.Waiting),
		fmt.Sprintf(w.statusTokensFmt, s.Tokens.Prompt, s.Tokens.Completion),
		fmt.Sprintf(w.statusVersionFmt, s.Version),
	}
	if len(s.Recent) > 0 {
		lines = append(lines, "", w.statusRecent)
	}
	for _, e := range s.Recent {
		lines = append(lines, w.entry(e, now))
	}
	return strings.Join(lines, "\n")
}

// entry words what became of one generation.
func (w *words) entry(e conversation.JournalEntry, now time.Time) string {
	outcome := w.outcomes[e.Outcome]
	if outcome == "" {
		outcome = string(e.Outcome)
	}
	line := "• " + outcome + ", " + w.age(now.Sub(e.At))
	if e.Meter.Took > 0 {
		line += fmt.Sprintf(w.tookFmt, e.Meter.Took.Seconds())
	}
	if e.ID != "" {
		line += " (" + e.ID + ")"
	}
	return line
}

func (w *words) age(d time.Duration) string {
	switch {
	case d < time.Second:
		return w.now
	case d < time.Minute:
		return fmt.Sprintf(w.secondsFmt, int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf(w.minutesFmt, int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf(w.hoursFmt, int(d.Hours()))
	}
	return fmt.Sprintf(w.daysFmt, int(d.Hours()/24))
}
