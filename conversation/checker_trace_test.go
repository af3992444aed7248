package conversation

import (
	"fmt"
	"strings"
)

// trace tells a path, with what each action has led to.
func (c *checker) trace(path []happening) string {
	var out strings.Builder
	s := c.first()
	for i, a := range path {
		what := string(a.kind)
		switch a.kind {
		case says, edits:
			what += fmt.Sprintf(" m%d", a.n+1)
		case crashes:
			what += fmt.Sprintf(" %b", a.n)
		case returns:
			what += " " + string(a.how)
		}
		who := "-"
		if a.kind != waits {
			who = s.workers[a.worker]
		}
		s, _ = c.apply(s, a)
		fmt.Fprintf(&out, "%3d. %-2s  %-50s %s\n", i+1, who, what, s.sketch())
	}
	return out.String()
}

// sketch tells a scene in one line.
func (s *scene) sketch() string {
	var out []string
	add := func(yes bool, format string, args ...any) {
		if yes {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	st := s.state
	add(true, "version %d", st.Version)
	for _, m := range st.Waiting() {
		add(true, "m%d waits", m.Source.ID)
	}
	add(st.Timer.Set(), "timer in %v (%s, for %d)", st.Timer.Due.Sub(now0), st.Timer.Reason, st.Timer.Armed)
	l := st.Lease
	add(l.Held() && !l.Delivering, "%s asks for version %d", l.Owner, l.Version)
	add(l.Delivering, "%s delivers", l.Owner)
	add(l.Protected, "protected")
	add(l.Cancelled != "", "to end: %s", l.Cancelled)
	add(l.Held(), "lease %v", l.Expiry.Sub(now0))
	for _, r := range st.Outbox {
		for i, p := range r.Parts {
			if r.Notice != nil {
				add(true, "notice %d %s %s", r.ID, r.Notice.Code, p.State)
			} else {
				add(true, "reply %d.%d of version %d %s", r.ID, i, r.Version, p.State)
			}
		}
	}
	add(st.Rest != "", "rests: %s", st.Rest)
	add(st.Closing != nil, "resets later")
	for _, f := range s.flights {
		kind := [...]string{"call", "send", "look"}[f.kind]
		add(f.kind == calling, "[%s: call for %s]", s.workers[f.worker], names(f.covers))
		add(f.kind != calling, "[%s: %s %d.%d]", s.workers[f.worker], kind, f.reply, f.index)
	}
	add(true, "answered %s", names(s.referee.answered))
	return strings.Join(out, ", ")
}
