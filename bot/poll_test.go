package bot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

// told is an update with a message of a private chat.
func told(update, id int64, text string) string {
	return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1700000000,"chat":{"id":7,"type":"private"},"from":{"id":7,"first_name":"Ann"},"text":%q}}`, update, id, text)
}

func updates(u ...string) answer { return result("[" + strings.Join(u, ",") + "]") }

// inbox collects what a bot receives.
type inbox struct {
	batches []conversation.Batch
	errs    []error // of the next calls
}

func (i *inbox) receive(_ context.Context, b conversation.Batch) error {
	if len(i.errs) > 0 {
		err := i.errs[0]
		i.errs = i.errs[1:]
		return err
	}
	i.batches = append(i.batches, b)
	return nil
}

func (i *inbox) texts() (out []string) {
	for _, b := range i.batches {
		for _, a := range b.Arrivals {
			if e, ok := a.Event.(conversation.Incoming); ok {
				out = append(out, e.Message.Content.Text)
			}
		}
	}
	return out
}

// polling runs a bot for a time and returns the offsets it polled with.
func polling(t *testing.T, r *rig, in *inbox, d time.Duration) (offsets []string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	err = r.Run(ctx, in.receive)
	for _, c := range r.tg.of("getUpdates") {
		offsets = append(offsets, c.params["offset"])
	}
	return offsets, err
}

func TestPollStoresBeforeItConfirms(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, in := newRig(t, open()), &inbox{errs: []error{conversation.ErrFull, conversation.ErrFull}}
		batch := updates(told(500, 1, "one"), told(501, 2, "two"))
		r.tg.script("getUpdates", batch, batch, batch)
		offsets, err := polling(t, r, in, 10*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(offsets, " "); got != "0 0 0 502" {
			t.Errorf("offsets %q", got)
		}
		if len(in.batches) != 1 || in.batches[0].Offset != 502 || in.batches[0].Identity != "telegram/42/" {
			t.Errorf("batches %+v", in.batches)
		}
		calls := r.tg.of("getUpdates")
		if p := calls[0].params; p["limit"] != "100" || p["timeout"] != "50" || !strings.Contains(p["allowed_updates"], "edited_message") {
			t.Errorf("params %v", p)
		}
		if d := calls[1].at.Sub(calls[0].at); d < firstPause {
			t.Errorf("asked again after %v", d)
		}
		if !strings.Contains(r.log.String(), "polling again") {
			t.Error("the recovery is not in the log")
		}
	})
}

func TestPollResumesAtTheStoredOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{meta: map[string][]byte{"offset/telegram/42/": []byte("777")}}
		offsets, err := polling(t, rigOn(t, open(), store), &inbox{}, time.Second)
		if err != nil || offsets[0] != "777" {
			t.Errorf("offsets %v, %v", offsets, err)
		}
	})
}

func TestPollOffsetsFollowTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, in := newRig(t, open()), &inbox{}
		r.tg.script("getUpdates", updates(told(9000, 1, "before")), updates(told(12, 2, "after a quiet week")),
			updates(`{"update_id":13,"message":{"message_id":"x","chat":{"id":true}}}`, `17`, `{"update_id":14,"new_kind":{}}`, told(15, 3, "last")))
		offsets, _ := polling(t, r, in, time.Second)
		if got := strings.Join(offsets, " "); got != "0 9001 13 16" {
			t.Errorf("offsets %q", got)
		}
		if got := strings.Join(in.texts(), "; "); got != "before; after a quiet week; last" {
			t.Errorf("texts %q", got)
		}
		if !strings.Contains(r.log.String(), "update=13") {
			t.Errorf("the skipped update is not in the log:\n%s", r.log)
		}
	})
}

// TestPollLeavesNothingOut: an update that comes again ahead of older ones does
// not confirm those; a numbering that really goes on higher is followed.
func TestPollLeavesNothingOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, in := newRig(t, open()), &inbox{}
		r.tg.script("getUpdates", updates(told(10, 1, "one")), updates(told(13, 4, "four")), updates(told(11, 2, "two")),
			updates(told(12, 3, "three"), told(13, 4, "four")), updates(told(50, 5, "five")), updates(told(50, 5, "five")))
		offsets, _ := polling(t, r, in, time.Second)
		if got := strings.Join(offsets, " "); got != "0 11 11 12 14 14 51" {
			t.Errorf("offsets %q", got)
		}
	})
}

func TestPollSurvives(t *testing.T) {
	conflict := fail(409, "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running")
	for name, tt := range map[string]struct {
		answers []answer
		kind    string
		within  time.Duration
	}{
		"html":       {[]answer{html(502), html(502), html(502)}, "server", 4 * time.Second},
		"500":        {[]answer{fail(500, "Internal Server Error")}, "server", time.Second},
		"truncated":  {[]answer{cut}, "network", time.Second},
		"half json":  {[]answer{respond(200, `{"ok":true,"result":[{"upd`)}, "server", time.Second},
		"odd result": {[]answer{result(`{"a":1}`)}, "server", time.Second},
		"no numbers": {[]answer{updates(`{}`)}, "network", time.Second},
		"refused":    {[]answer{broken(errNeverLeft), broken(io.EOF)}, "network", 2 * time.Second},
		"flood":      {[]answer{flood(7)}, "flood", 8 * time.Second},
		"404":        {[]answer{fail(404, "Not Found")}, "not_found", time.Second},
		"webhook":    {[]answer{fail(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first")}, "webhook", 100 * time.Millisecond},
		"conflict":   {[]answer{conflict, conflict}, "conflict", 4 * time.Second},
		"half-open":  {[]answer{hang}, "network", 62 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, in := newRig(t, open()), &inbox{}
				r.tg.script("getUpdates", append(tt.answers, updates(told(5, 1, "hello")))...)
				if _, err := polling(t, r, in, tt.within); err != nil {
					t.Fatal(err)
				}
				if len(in.texts()) != 1 {
					t.Errorf("not received within %v", tt.within)
				}
				log := r.log.String()
				if n := strings.Count(log, "kind="+tt.kind); n != 1 {
					t.Errorf("said %d times:\n%s", n, log)
				}
				hooks := r.tg.of("deleteWebhook")
				if want := name == "webhook"; want != (len(hooks) == 1) {
					t.Errorf("%d webhooks deleted", len(hooks))
				} else if want && hooks[0].params["drop_pending_updates"] != "false" {
					t.Errorf("params %v", hooks[0].params)
				}
			})
		})
	}
}

func TestPollBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		r.tg.always["getUpdates"] = fail(409, "Conflict: terminated by other getUpdates request")
		if _, err := polling(t, r, &inbox{}, 5*time.Minute); err != nil {
			t.Fatal(err)
		}
		if n := len(r.tg.of("getUpdates")); n < 25 || n > 40 {
			t.Errorf("%d polls in 5 minutes", n)
		}
		if n := strings.Count(r.log.String(), "kind=conflict"); n < 4 || n > 6 {
			t.Errorf("said %d times in 5 minutes", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		r.tg.always["getUpdates"] = html(502)
		if _, err := polling(t, r, &inbox{}, 10*time.Minute); err != nil {
			t.Fatal(err)
		}
		if n := len(r.tg.of("getUpdates")); n < 20 || n > 30 {
			t.Errorf("%d polls in 10 minutes", n)
		}
		if n := strings.Count(r.log.String(), "level=WARN"); n != 1 {
			t.Errorf("said %d times", n)
		}
	})
}

func TestPollDoesNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		r.tg.always["getUpdates"] = updates()
		if _, err := polling(t, r, &inbox{}, 3*time.Second); err != nil {
			t.Fatal(err)
		}
		if n := len(r.tg.of("getUpdates")); n > 101 {
			t.Errorf("%d polls in 3 s", n)
		}
	})
}

func TestRefusedTokenIsFatal(t *testing.T) {
	for _, method := range []string{"getMe", "getUpdates"} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, open())
			r.tg.script(method, html(502), fail(401, "Unauthorized"))
			if _, err := polling(t, r, &inbox{}, time.Minute); !errors.Is(err, ErrUnauthorized) {
				t.Errorf("%s: %v", method, err)
			}
		})
	}
}

func TestRunWaitsForTelegram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, in := newRig(t, open()), &inbox{}
		r.tg.script("getMe", broken(errNeverLeft), html(502), hang)
		r.tg.script("getUpdates", updates(told(5, 1, "hello")))
		if _, err := polling(t, r, in, 30*time.Second); err != nil || len(in.texts()) != 1 {
			t.Errorf("%v, %v", in.texts(), err)
		}
		if n := len(r.tg.of("setMyCommands")); n != 4 {
			t.Errorf("%d menus of commands", n)
		}
	})
}

func TestRunEndsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		r.tg.always["setMyCommands"] = hang
		start := time.Now()
		if _, err := polling(t, r, &inbox{}, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("ended after %v", d)
		}
	})
}

func TestCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answer
		want   string
	}{
		"good":        {nil, ""},
		"refused":     {fail(401, "Unauthorized"), "telegram.token"},
		"unknown":     {fail(404, "Not Found"), "telegram.token"},
		"unreachable": {broken(errNeverLeft), "telegram.api_url"},
		"elsewhere":   {respond(200, "hello"), "telegram.api_url"},
	} {
		r := newRig(t, open())
		if tt.answer != nil {
			r.tg.script("getMe", tt.answer)
		}
		username, err := r.Check(t.Context())
		if tt.want == "" && (err != nil || username != "lastword_bot") {
			t.Errorf("%s: %q, %v", name, username, err)
		}
		if tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), testSecret) {
			t.Errorf("%s: the token is in %v", name, err)
		}
	}
}
