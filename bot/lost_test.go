package bot

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

// screen is the part of Telegram that a probe relies on: messages with texts
// and buttons, and edits that tell whether they change anything.
type screen struct {
	ids   int64
	shown map[int64]picture
}

type picture struct{ text, buttons string }

func (s *screen) on(f *fakeTelegram) {
	s.shown = map[int64]picture{}
	f.always["sendMessage"] = func(ctx context.Context, c call) (*http.Response, error) {
		if ctx == nil {
			return nil, nil //nolint:nilnil // asked only whether it would fail at once
		}
		s.ids++
		s.shown[s.ids] = picture{c.params["text"], c.params["reply_markup"]}
		return s.message(s.ids)(ctx, c)
	}
	edit := func(change func(m *picture, c call)) answer {
		return func(ctx context.Context, c call) (*http.Response, error) {
			if ctx == nil {
				return nil, nil //nolint:nilnil // as above
			}
			id, _ := strconv.ParseInt(c.params["message_id"], 10, 64)
			old, ok := s.shown[id]
			if !ok {
				return fail(400, "Bad Request: message to edit not found")(ctx, c)
			}
			m := old
			change(&m, c)
			if m == old {
				return fail(400, "Bad Request: message is not modified")(ctx, c)
			}
			s.shown[id] = m
			return s.message(id)(ctx, c)
		}
	}
	f.always["editMessageText"] = edit(func(m *picture, c call) { *m = picture{c.params["text"], c.params["reply_markup"]} })
	f.always["editMessageReplyMarkup"] = edit(func(m *picture, c call) { m.buttons = c.params["reply_markup"] })
	f.always["deleteMessage"] = func(ctx context.Context, c call) (*http.Response, error) {
		if ctx != nil {
			id, _ := strconv.ParseInt(c.params["message_id"], 10, 64)
			delete(s.shown, id)
		}
		return result(`true`)(ctx, c)
	}
}

func (s *screen) message(id int64) answer {
	return result(fmt.Sprintf(`{"message_id":%d,"date":1,"chat":{"id":7,"type":"private"},"text":"x"}`, id))
}

// sends is what a bot sends in a while: replies with buttons, parts without,
// notices with and without, the same text twice.
func sends() (parts []conversation.Part) {
	button := func(do conversation.Action, g conversation.Generation) []conversation.Button {
		return []conversation.Button{{Label: "x", Press: conversation.Press{Do: do, Incarnation: "abc", Turn: 1, Generation: g}}}
	}
	for g := range conversation.Generation(3) {
		parts = append(parts,
			conversation.Part{Text: "a first part"}, conversation.Part{Text: "an answer", Buttons: button(conversation.Regenerate, g)},
			conversation.Part{Text: "did it arrive?", Buttons: button(conversation.ShowAnswer, g)})
	}
	return append(parts, conversation.Part{Text: "a notice"})
}

// TestLostAnswerIsFound: whichever send it is whose answer is lost, the probe
// finds it if it is visible, finds nothing if it is not, and changes nothing
// that can be read (I2), also when others are in doubt beside it.
func TestLostAnswerIsFound(t *testing.T) {
	all := sends()
	for n := range all {
		for _, landed := range []bool{true, false} {
			for _, stale := range []bool{true, false} {
				for _, before := range []int{0, 1} { // how many were lost just before it
					t.Run(fmt.Sprintf("%d landed=%t stale=%t before=%d", n, landed, stale, before), func(t *testing.T) {
						synctest.Test(t, func(t *testing.T) { loseAnswer(t, all, n, max(0, n-before), landed, stale) })
					})
				}
			}
		}
	}
}

func loseAnswer(t *testing.T, all []conversation.Part, n, first int, landed, stale bool) {
	r, s := newRig(t, open()), &screen{}
	s.on(r.tg)
	tellTale := len(all[n].Buttons) > 0
	for i, p := range all[:n+1] {
		switch {
		case i < first:
		case i < n:
			tellTale = tellTale || len(p.Buttons) > 0
			r.tg.script("sendMessage", s.lose(r.tg, true))
		default:
			r.tg.script("sendMessage", s.lose(r.tg, landed))
		}
		time.Sleep(time.Second) // virtual: the pace of one chat
		_, err := r.Send(t.Context(), key(7), p, conversation.Source{})
		if (err != nil) != (i >= first) {
			t.Fatalf("send %d: %v", i, err)
		}
	}
	if first < n && !tellTale {
		t.Skip("two messages without buttons cannot be told apart unseen")
	}
	before := maps.Clone(s.shown)
	var ids []int64
	for id := int64(first) + 1; id <= int64(n)+2; id++ {
		ids = append(ids, id)
	}
	met, err := r.Probe(t.Context(), key(7), all[n], ids, stale)
	want := []int64(nil)
	if landed {
		want = []int64{int64(n) + 1}
	}
	if err != nil || !slices.Equal(met.Can, want) {
		t.Errorf("met %v, %v; want %v", met, err, want)
	}
	for id, m := range before {
		if s.shown[id].text != m.text {
			t.Errorf("message %d shows %q, it was %q", id, s.shown[id].text, m.text)
		}
	}
}

// lose makes a send whose answer never comes.
func (s *screen) lose(f *fakeTelegram, landed bool) answer {
	return func(ctx context.Context, c call) (*http.Response, error) {
		if landed && ctx != nil {
			_, _ = f.always["sendMessage"](ctx, c)
		}
		return broken(io.EOF)(ctx, c)
	}
}
