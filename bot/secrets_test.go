package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

// Whatever goes wrong, the log holds neither the token nor what people and
// models say (I8).
func TestTheLogTellsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		leaky := broken(fmt.Errorf(`Post "https://api.telegram.org/bot%s/x": private words`, testToken))
		echo := fail(500, "Internal Server Error at /bot"+testToken+"/sendMessage")
		r.tg.script("getMe", leaky, echo)
		r.tg.script("setMyCommands", leaky, echo, cut)
		r.tg.script("answerCallbackQuery", echo)
		r.tg.script("getUpdates", leaky, echo, cut, html(502),
			updates(told(5, 1, "private words"), `{"update_id":6,"message":{"message_id":"private words"}}`, `{"update_id":7,"callback_query":{"id":"c","from":{"id":7}}}`))
		r.tg.always["editMessageText"] = cut
		for _, a := range []answer{echo, cut, respond(200, "private words")} {
			r.tg.script("sendMessage", a)
			r.tg.script("sendChatAction", a)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		in := &inbox{errs: []error{conversation.ErrFull}}
		if err := r.Run(ctx, in.receive); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err := r.Send(t.Context(), key(7), conversation.Part{Text: "private words"}, conversation.Source{})
			r.Bot.log.Error("send", "err", err, "bot", r.Bot)
			r.Bot.log.Error("typing", "err", r.Typing(t.Context(), key(7)))
			_, err = r.Probe(t.Context(), key(7), conversation.Part{Text: "private words"}, []int64{5}, false)
			r.Bot.log.Error("probe", "err", err)
		}
		log := strings.ReplaceAll(r.log.String(), `: private words"`, "") // that one the network said
		for _, secret := range []string{testSecret, "private wo"} {
			if strings.Contains(log, secret) {
				t.Errorf("%q is in the log:\n%s", secret, log)
			}
		}
	})
}
