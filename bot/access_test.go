package bot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

// person sends messages of one user, each with an update number of its own.
type person struct {
	t      *testing.T
	tr     *translator
	id     int64
	update *int64
}

func (p person) say(chat int64, text, extra string) string {
	p.t.Helper()
	*p.update++
	return p.again(chat, text, extra)
}

// again sends the last update once more.
func (p person) again(chat int64, text, extra string) string {
	p.t.Helper()
	kind, entities := "private", ""
	if chat < 0 {
		kind = "supergroup"
	}
	if word, _, _ := strings.Cut(text, " "); strings.HasPrefix(word, "/") {
		entities = "," + commandAt(len(word))
	}
	raw := fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1,"chat":{"id":%d,"type":%q},"from":{"id":%d,"first_name":"P"},"text":%q%s%s}}`,
		*p.update, *p.update, chat, kind, p.id, text, entities, extra)
	a, _, err := p.tr.update(json.RawMessage(raw))
	if err != nil {
		return "error"
	}
	if s, ok := a.Event.(conversation.Say); ok {
		return s.Notice.Text
	}
	return show(a.Event)
}

func people(t *testing.T, tr *translator, ids ...int64) (out []person) {
	n := new(int64)
	for _, id := range ids {
		out = append(out, person{t, tr, id, n})
	}
	return out
}

func TestListedOnly(t *testing.T) {
	tr := testTranslator(AccessConfig{Users: []int64{7}, Groups: []int64{-100500}})
	p := people(t, tr, 7, 8)
	listed, other := p[0], p[1]
	if got := listed.say(7, "hi", ""); got != "P: hi" {
		t.Errorf("listed user: %s", got)
	}
	if got := other.say(-100500, "hi", ""); got != "P: hi" {
		t.Errorf("anybody in a listed group: %s", got)
	}
	if got := listed.say(-100999, "hi", ""); got != "nothing" {
		t.Errorf("chatter of a listed user in another group: %s", got)
	}
	if got := listed.say(-100999, "/status", ""); got != english.strangeGroup {
		t.Errorf("a command there: %s", got)
	}
	if got := listed.say(-100999, "/status", ""); got != "nothing" {
		t.Errorf("and again: %s", got)
	}
	if got := other.say(8, "hi", ""); !strings.Contains(got, "Your id is 8") {
		t.Errorf("stranger: %s", got)
	}
	if got := other.say(8, "/reset", ""); got != "nothing" {
		t.Errorf("stranger's command: %s", got)
	}
	if got := listed.say(7, "/allow 8", ""); got != english.notOwner {
		t.Errorf("allow without an owner: %s", got)
	}
	if code, err := tr.gate.newCode(); code != "" || err != nil {
		t.Errorf("code %q, %v", code, err)
	}
}

func TestStrangersAreToldOnceADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := testTranslator(AccessConfig{Users: []int64{7}})
		p := people(t, tr, 8)[0]
		told := func(got string) bool { return strings.Contains(got, "private bot") }
		if !told(p.say(8, "hi", "")) || !told(p.again(8, "hi", "")) {
			t.Error("the first message, or its redelivery, is not answered")
		}
		if told(p.say(8, "hi", "")) {
			t.Error("told twice")
		}
		time.Sleep(25 * time.Hour)
		tr.gate.guest = guestBook{} // a restart
		if err := tr.gate.load(); err != nil {
			t.Fatal(err)
		}
		if !told(p.say(8, "hi", "")) || told(p.say(8, "hi", "")) {
			t.Error("the next day")
		}
		for i := range int64(mostStrangers + 10) {
			time.Sleep(time.Second)
			people(t, tr, 1000+i)[0].say(1000+i, "hi", "")
		}
		if n := len(tr.gate.guest.Strangers); n != mostStrangers {
			t.Errorf("%d strangers", n)
		}
		if _, kept := tr.gate.guest.Strangers[8]; kept {
			t.Error("the oldest is still there")
		}
	})
}

func TestPairing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		r := rigOn(t, AccessConfig{}, store)
		old, err := r.Pair()
		if err != nil || len(old) != codeLength {
			t.Fatalf("%q, %v", old, err)
		}
		r = rigOn(t, AccessConfig{}, store) // a restart
		code, err := r.Pair()
		if err != nil || code == old {
			t.Fatalf("%q, %v", code, err)
		}
		if data := string(store.meta["access/42"]); strings.Contains(data, code) || !strings.Contains(data, codeHash(code)) {
			t.Errorf("stored %s", data)
		}
		tr := testTranslator(AccessConfig{})
		tr.gate = r.gate
		p := people(t, tr, 7, 8)
		owner, other := p[0], p[1]
		if got := other.say(8, "/start "+old, ""); got == english.paired {
			t.Error("the code of the last start works")
		}
		if got := other.say(-100500, "/start "+code, ""); got == english.paired {
			t.Error("the code works in a group")
		}
		if got := owner.say(7, "/start "+strings.ToLower(code), ""); got != english.paired {
			t.Errorf("the code does not work: %s", got)
		}
		if got := other.say(8, "/start "+code, ""); got == english.paired {
			t.Error("the code works twice")
		}
		if got := owner.say(7, "hi", ""); got != "P: hi" {
			t.Errorf("owner: %s", got)
		}
		r = rigOn(t, AccessConfig{}, store)
		if code, err := r.Pair(); code != "" || err != nil || !r.gate.admits(chat{ID: 7, Type: "private"}) {
			t.Errorf("after a restart: %q, %v", code, err)
		}
	})
}

func TestWrongCodesAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := testTranslator(AccessConfig{})
		code, err := tr.gate.newCode()
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(mostTries) {
			people(t, tr, 100+i)[0].say(100+i, "/start WRONG", "")
		}
		p := people(t, tr, 7)[0]
		if got := p.say(7, "/start "+code, ""); got == english.paired {
			t.Error("still looked at")
		}
		time.Sleep(triesEvery + time.Second)
		if got := p.say(7, "/start "+code, ""); got != english.paired {
			t.Errorf("after an hour: %s", got)
		}
	})
}

func TestOwnerAdmitsOthers(t *testing.T) {
	tr := testTranslator(AccessConfig{})
	code, _ := tr.gate.newCode()
	p := people(t, tr, 7, 8)
	owner, guest := p[0], p[1]
	owner.say(7, "/start "+code, "")
	for _, step := range []struct{ got, want string }{
		{owner.say(7, "/allow", ""), english.allowUsage},
		{owner.say(7, "/allow everybody", ""), english.allowUsage},
		{owner.say(7, "/allow 8", ""), fmt.Sprintf(english.allowedFmt, 8)},
		{guest.say(8, "hi", ""), "P: hi"},
		{guest.say(8, "/allow 9", ""), english.notOwner},
		{owner.say(7, "/deny 8", ""), fmt.Sprintf(english.deniedFmt, 8)},
		{guest.say(8, "/allow 9", ""), fmt.Sprintf(english.strangerFmt, 8)},
		{owner.say(7, "/deny 7", ""), fmt.Sprintf(english.cannotDenyFmt, 7)},
		{owner.say(7, "/allow", `,"reply_to_message":{"message_id":1,"chat":{"id":7},"from":{"id":7},"forward_origin":{"type":"user","sender_user":{"id":9}}}`), fmt.Sprintf(english.allowedFmt, 9)},
		{owner.say(-100500, "/allow", ""), fmt.Sprintf(english.allowedFmt, -100500)},
		{guest.say(-100500, "hi", ""), "P: hi"},
		{owner.say(-100500, "/allow", `,"reply_to_message":{"message_id":1,"chat":{"id":-100500},"from":{"id":8}}`), fmt.Sprintf(english.allowedFmt, 8)},
	} {
		if step.got != step.want {
			t.Errorf("got  %s\nwant %s", step.got, step.want)
		}
	}
	a, ok := message1(t, tr, `"message_id":10,"date":1,"chat":{"id":-100500,"type":"group"},"from":{"id":7},"migrate_to_chat_id":-1001900000001`)
	if !ok || a.Event == nil || !tr.gate.admits(chat{ID: -1001900000001, Type: "supergroup"}) {
		t.Errorf("an admitted group that moves: %+v", a)
	}
}

func TestAccessThatCannotBeStored(t *testing.T) {
	tr := testTranslator(AccessConfig{})
	code, _ := tr.gate.newCode()
	tr.gate.store.(*memory).err = errors.New("disk full")
	p := people(t, tr, 7)[0]
	if got := p.say(7, "/start "+code, ""); got != "error" || tr.gate.guest.Owner != 0 {
		t.Errorf("%s, owner %d", got, tr.gate.guest.Owner)
	}
	tr.gate.store.(*memory).err = nil
	if got := p.again(7, "/start "+code, ""); got != english.paired {
		t.Errorf("%s", got)
	}
	if got := p.again(7, "/start "+code, ""); got != english.start {
		t.Errorf("the same again: %s", got)
	}
}
