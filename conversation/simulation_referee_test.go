package conversation_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

var edition = regexp.MustCompile(`#\d{4}(?:e\d+)?`)

// longestSilence bounds how long nothing at all happens in a room in which
// somebody waits: a call that stalls, with its retries, and a search.
const longestSilence = 3 * time.Minute

// roomOf finds the room of a key, where it is or was.
func (s *simulation) roomOf(k conversation.Key) *room { return s.rooms[k.Chat%100-1] }

// screen is what can be seen in a room: whole replies, joined from their parts,
// and notices.
type screen struct {
	replies, notices []string
	last             time.Time // when the bot last showed something
}

// look takes in what can be seen in all rooms.
func (s *simulation) look() map[*room]*screen {
	all := map[*room]*screen{}
	for _, r := range s.rooms {
		all[r] = &screen{}
	}
	for _, m := range s.channel.Shown() {
		v := all[s.roomOf(m.Key)]
		if m.User {
			continue
		}
		v.last = m.At
		switch {
		case strings.HasPrefix(m.Text, "("):
			v.notices = append(v.notices, m.Text)
		case strings.HasPrefix(m.Text, "re: "):
			v.replies = append(v.replies, m.Text)
		case len(v.replies) > 0:
			v.replies[len(v.replies)-1] += m.Text
		}
	}
	return all
}

// visible is what can be seen in one room.
func (s *simulation) visible(r *room) (replies, notices []string) {
	v := s.look()[r]
	return v.replies, v.notices
}

// check looks at everything that can be seen.
func (s *simulation) check() {
	s.t.Helper()
	for r, v := range s.look() {
		seen := map[string]bool{}
		for _, text := range v.replies {
			for _, m := range mark.FindAllString(text, -1) {
				if seen[m] {
					s.t.Errorf("I2: %s is answered twice: %q", m, v.replies)
				}
				seen[m] = true
			}
		}
		s.checkSilence(r, v)
	}
	s.checkFlights()
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if len(s.log.said) > 0 {
		s.t.Errorf("I8: the log holds what people said: %q", s.log.said)
	}
}

// checkSilence is I5.
func (s *simulation) checkSilence(r *room, v *screen) {
	last := r.spoke
	if v.last.After(last) {
		last = v.last
	}
	if time.Since(last) < longestSilence {
		return
	}
	all := strings.Join(v.replies, " ")
	for _, m := range r.said {
		if s.owed(r, m) && !strings.Contains(all, m.base()) && !m.accepted.Before(v.last) {
			s.t.Errorf("I5: nothing has happened for %v, and %s waits: %q", time.Since(last), m.mark, all)
		}
	}
}

// owed reports whether a message has to be answered.
func (s *simulation) owed(r *room, m *saying) bool {
	return m.addressed && !m.gone && !m.accepted.IsZero() && m.accepted.After(r.cleared)
}

// checkFlights is I4, for the calls that began since it last looked.
func (s *simulation) checkFlights() {
	calls := s.model.Calls()
	for ; s.checked < len(calls); s.checked++ {
		c := calls[s.checked]
		r := s.roomAsked(c.Turn)
		if last, ok := s.flight[r]; ok && r != nil && (calls[last].End.IsZero() || calls[last].End.After(c.Start)) {
			s.t.Errorf("I4: %v is asked while %v is", c.Turn, calls[last].Turn)
		}
		s.flight[r] = s.checked
	}
}

func (s *simulation) roomAsked(marks []string) *room {
	if len(marks) == 0 || len(marks[0]) < 5 {
		return nil
	}
	return s.spoken[marks[0][:5]]
}

// claimed is I3. It runs when the first part of a reply is about to be sent. A
// reply may leave newer input out only if it says so by quoting the last message
// that it covers, after as many restarts as are allowed or with that policy.
func (s *simulation) claimed(k conversation.Key, p conversation.Part, target conversation.Source) {
	if !strings.HasPrefix(p.Text, "re: ") || p.Replaces != 0 || strings.Contains(p.Text, "(halted)") {
		return // what was stopped is shown because somebody has asked for it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.roomOf(k)
	covered := s.covers(r, p.Text)
	replies, _ := s.visible(r)
	seen := strings.Join(replies, " ") + s.missing(r) // of what may be missing, a notice has told
	if len(covered) > 0 && strings.Contains(seen, covered[0][:5]) {
		return // asked for by a button
	}
	for _, m := range r.said {
		known := s.owed(r, m) && m.changed.Before(time.Now().Add(-time.Millisecond))
		switch {
		case !known, slices.Contains(covered, m.mark):
		case s.quotes(r, covered, target):
		case strings.Contains(strings.Join(covered, " "), m.base()):
			s.t.Errorf("I3: %q answers an old text of %s", p.Text, m.mark)
		case !strings.Contains(seen, m.base()):
			s.t.Errorf("I3: %q ignores %s, which was known for %v", p.Text, m.mark, time.Since(m.changed))
		}
	}
}

// covers is the turn of a reply of which only the first part is known.
func (s *simulation) covers(r *room, part string) []string {
	for _, c := range slices.Backward(s.model.Calls()) {
		if answer := "re: " + strings.Join(c.Turn, " ") + " ."; s.roomAsked(c.Turn) == r && (strings.HasPrefix(answer, part) || strings.HasPrefix(part, answer)) {
			return c.Turn
		}
	}
	return edition.FindAllString(part, -1)
}

// quotes reports whether a reply quotes the last message that it covers, of those
// that were not taken back.
func (s *simulation) quotes(r *room, covered []string, target conversation.Source) bool {
	for _, m := range slices.Backward(r.said) {
		if slices.ContainsFunc(covered, func(c string) bool { return c[:5] == m.base() }) && (!m.gone || m.id == target.ID) {
			return m.id == target.ID
		}
	}
	return false
}

// asked is I7: what a prompt holds of the past is what could be seen then, and
// each message once.
func (s *simulation) asked(prompt []conversation.PromptMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.roomAsked(conversationtest.Marks(prompt[len(prompt)-1].Text))
	if r == nil {
		s.t.Errorf("a prompt that nobody has asked for: %q", prompt)
		return
	}
	replies, notices := s.visible(r)
	doubt := strings.Contains(strings.Join(notices, " "), "(doubtful)")
	seen := map[string]bool{}
	for _, p := range prompt {
		if p.Role == conversation.Assistant {
			text := strings.ReplaceAll(strings.TrimSuffix(p.Text, "\n\n(halted)"), "\n", "")
			if i := slices.IndexFunc(replies, func(v string) bool { return strings.HasPrefix(strings.ReplaceAll(v, "\n", ""), text) }); i < 0 && !doubt {
				s.t.Errorf("I7: the prompt of %s holds %q; visible is %q", r.name, p.Text, replies)
			}
			continue
		}
		for _, m := range mark.FindAllString(p.Text, -1) {
			if seen[m] {
				s.t.Errorf("I7: %s is twice in %q", m, prompt)
			}
			seen[m] = true
		}
	}
}

// checkEnd is I1, when all is quiet: what has to be answered is, in its newest
// text if it was not answered before that.
func (s *simulation) checkEnd() {
	for _, r := range s.rooms {
		replies, notices := s.visible(r)
		all := strings.Join(replies, " ") + s.missing(r)
		for _, m := range r.said {
			if s.owed(r, m) && !strings.Contains(all, m.base()) {
				s.t.Errorf("I1: %s of %s was never answered: %q, %q", m.mark, r.name, replies, notices)
			}
		}
	}
}

// missing is what may not have arrived, of which a notice has told.
func (s *simulation) missing(r *room) (texts string) {
	for _, k := range []conversation.Key{r.key, {Channel: "test", Bot: 1, Chat: r.key.Chat % 800}} {
		texts += (&walker{world: s.world}).unsure(k)
	}
	return fmt.Sprint(texts)
}
