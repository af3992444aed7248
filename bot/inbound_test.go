package bot

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
)

func testTranslator(access AccessConfig) *translator {
	g := &gate{config: access, bot: 42, store: &memory{}, now: time.Now}
	return &translator{bot: 42, username: "lastword_bot", gate: g, log: slog.New(slog.DiscardHandler)}
}

const (
	inPrivate = `"message_id":10,"date":1700000000,"chat":{"id":7,"type":"private","first_name":"Ann"},"from":{"id":7,"first_name":"Ann","last_name":"Lee","username":"ann","language_code":"ru"}`
	inGroup   = `"message_id":10,"date":1700000000,"chat":{"id":-100500,"type":"supergroup","title":"G"},"from":{"id":7,"first_name":"Ann"}`
	fromBot   = `"reply_to_message":{"message_id":9,"date":1,"chat":{"id":-100500,"type":"supergroup"},"from":{"id":42,"is_bot":true,"first_name":"Last Word"},"text":"my answer"}`
)

// show is a short form of an event, for comparison.
func show(e conversation.Event) string {
	in, edited := conversation.Incoming{}, ""
	switch e := e.(type) {
	case nil:
		return "nothing"
	case conversation.Incoming:
		in = e
	case conversation.Edited:
		in, edited = e.Incoming, "edit of "
	case conversation.Say:
		return "say " + string(e.Notice.Code)
	case conversation.Reset:
		return "reset " + e.Language
	case conversation.Stop:
		return "stop " + e.Language
	case conversation.AskStatus:
		return "status " + e.Language
	case conversation.Migrated:
		return "migrated to " + e.To.String()
	default:
		return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", e), "conversation."))
	}
	c := in.Message.Content
	out := edited + in.Message.Author.Name + ": " + c.Text
	for _, f := range []struct{ name, value string }{{"att", c.Attachment}, {"quote", c.Quote}, {"of", c.Quoted}, {"fwd", c.Forward}} {
		if f.value != "" {
			out += " " + f.name + "=" + f.value
		}
	}
	if in.Hold > 0 {
		out += " hold=" + in.Hold.String()
	}
	if in.Group && in.Addressed {
		out += " addressed"
	}
	return out
}

func message1(t *testing.T, tr *translator, body string) (conversation.Arrival, bool) {
	t.Helper()
	raw := `{"update_id":1,"message":{` + body + `}}`
	if !json.Valid([]byte(raw)) {
		t.Fatalf("not JSON: %s", raw)
	}
	a, ok, err := tr.update(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return a, ok
}

func mention(offset, length int) string {
	return fmt.Sprintf(`"entities":[{"type":"mention","offset":%d,"length":%d}]`, offset, length)
}

func commandAt(length int) string {
	return fmt.Sprintf(`"entities":[{"type":"bot_command","offset":0,"length":%d}]`, length)
}

func TestMessages(t *testing.T) {
	long := strings.Repeat("ы", splitLength)
	for name, tt := range map[string]struct{ body, want string }{
		"text":             {inPrivate + `,"text":"hi\nthere"`, "Ann Lee: hi\nthere"},
		"no name":          {`"message_id":10,"date":1,"chat":{"id":7,"type":"private"},"from":{"id":7,"username":"ann"},"text":"hi"`, "@ann: hi"},
		"odd name":         {`"message_id":10,"date":1,"chat":{"id":7,"type":"private"},"from":{"id":7,"first_name":" A\n b "},"text":"hi"`, "A b: hi"},
		"long":             {inPrivate + `,"text":"` + long + `"`, "Ann Lee: " + long + " hold=1.5s"},
		"photo":            {inPrivate + `,"caption":"look","photo":[{"file_id":"x"}]`, "Ann Lee: look att=photo"},
		"album":            {inPrivate + `,"media_group_id":"a","photo":[{"file_id":"x"}]`, "Ann Lee:  att=photo hold=1s"},
		"voice":            {inPrivate + `,"voice":{"duration":3}`, "Ann Lee:  att=voice message, 3 s"},
		"audio":            {inPrivate + `,"audio":{"duration":3,"performer":"P","title":"T"}`, "Ann Lee:  att=audio, 3 s, P T"},
		"gif":              {inPrivate + `,"animation":{"duration":3},"document":{"file_name":"a.mp4"}`, "Ann Lee:  att=animation"},
		"document":         {inPrivate + `,"document":{"file_name":"a\nb.txt"}`, "Ann Lee:  att=document, a b.txt"},
		"sticker":          {inPrivate + `,"sticker":{"emoji":"👍"}`, "Ann Lee:  att=sticker 👍"},
		"location":         {inPrivate + `,"location":{"latitude":59.95,"longitude":30.31}`, "Ann Lee:  att=location 59.95000, 30.31000"},
		"venue":            {inPrivate + `,"venue":{"title":"Bar"},"location":{"latitude":1,"longitude":2}`, "Ann Lee:  att=place, Bar"},
		"contact":          {inPrivate + `,"contact":{"first_name":"Bob","phone_number":"1"}`, "Ann Lee:  att=contact, Bob"},
		"poll":             {inPrivate + `,"poll":{"question":"Tea?"}`, "Ann Lee:  att=poll, Tea?"},
		"dice":             {inPrivate + `,"dice":{"emoji":"🎲","value":4}`, "Ann Lee:  att=dice 🎲, 4"},
		"broken photo":     {inPrivate + `,"photo":5`, "Ann Lee:  att=photo"},
		"broken voice":     {inPrivate + `,"voice":{"duration":"long"}`, "Ann Lee:  att=voice message"},
		"of the future":    {inPrivate + `,"hologram":{"x":1}`, "Ann Lee:  att=unsupported message"},
		"rich":             {inPrivate + `,"rich_message":{"blocks":[{"type":"heading","text":"Title"},{"type":"paragraph","text":["see ",{"type":"bold","text":"this"},"!"]},{"type":"list","items":[{"label":"1.","blocks":[{"type":"paragraph","text":"one"}]}]},{"type":"new","url":"http://x"}]}`, "Ann Lee: Title\nsee this!\n1. one"},
		"forward":          {inPrivate + `,"text":"x","forward_origin":{"type":"user","sender_user":{"id":8,"first_name":"Bob"}}`, "Ann Lee: x fwd=Bob hold=1s"},
		"hidden forward":   {inPrivate + `,"text":"x","forward_origin":{"type":"hidden_user","sender_user_name":"Bob"}`, "Ann Lee: x fwd=Bob hold=1s"},
		"chat forward":     {inPrivate + `,"text":"x","forward_origin":{"type":"chat","sender_chat":{"title":"Room"}}`, "Ann Lee: x fwd=Room hold=1s"},
		"channel forward":  {inPrivate + `,"text":"x","forward_origin":{"type":"channel","chat":{"title":"News"},"author_signature":"Ed"}`, "Ann Lee: x fwd=News (Ed) hold=1s"},
		"forward of later": {inPrivate + `,"text":"x","forward_origin":{"type":"dream"}`, "Ann Lee: x fwd=somebody hold=1s"},
		"reply":            {inPrivate + `,"text":"x","reply_to_message":{"message_id":9,"chat":{"id":7},"from":{"id":8,"first_name":"Bob"},"caption":"old"}`, "Ann Lee: x quote=old of=Bob"},
		"reply to self":    {inPrivate + `,"text":"x","reply_to_message":{"message_id":9,"chat":{"id":7},"from":{"id":7,"first_name":"Ann"},"text":"old"}`, "Ann Lee: x quote=old"},
		"reply to photo":   {inPrivate + `,"text":"x","reply_to_message":{"message_id":9,"chat":{"id":7},"from":{"id":8,"first_name":"Bob"},"photo":[]}`, "Ann Lee: x quote=[photo] of=Bob"},
		"quote":            {inPrivate + `,"text":"x","quote":{"text":"part"},"reply_to_message":{"message_id":9,"chat":{"id":7},"from":{"id":42,"is_bot":true},"text":"the whole"}`, "Ann Lee: x quote=part of=you"},
		"external reply":   {inPrivate + `,"text":"x","quote":{"text":"part"},"external_reply":{"origin":{"type":"channel","chat":{"title":"News"}}}`, "Ann Lee: x quote=part of=News"},
		"long quote":       {inPrivate + `,"text":"x","quote":{"text":"` + strings.Repeat("q", 1200) + `"}`, "Ann Lee: x quote=" + strings.Repeat("q", 1000) + "…"},
		"odd extras":       {inPrivate + `,"text":"x","quote":7,"reply_to_message":[],"entities":"?","external_reply":3`, "Ann Lee: x"},

		"chatter":           {inGroup + `,"text":"nice weather"`, "Ann: nice weather"},
		"mention":           {inGroup + `,"text":"привет @lastword_bot, как?",` + mention(7, 13), "Ann: привет @lastword_bot, как? addressed"},
		"after emoji":       {inGroup + `,"text":"👋👋 @LastWord_bot hello",` + mention(5, 13), "Ann: 👋👋 @LastWord_bot hello addressed"},
		"another's mention": {inGroup + `,"text":"👋👋 @somebody_else x",` + mention(5, 14), "Ann: 👋👋 @somebody_else x"},
		"longer name":       {inGroup + `,"text":"@lastword_bot2 x",` + mention(0, 14), "Ann: @lastword_bot2 x"},
		"beyond the text":   {inGroup + `,"text":"@lastword_bot",` + mention(5, 1300), "Ann: @lastword_bot"},
		"negative offset":   {inGroup + `,"text":"@lastword_bot",` + mention(-5, 13), "Ann: @lastword_bot"},
		"no entity":         {inGroup + `,"text":"mail me@lastword_bot"`, "Ann: mail me@lastword_bot"},
		"in a caption":      {inGroup + `,"photo":[],"caption":"@lastword_bot what?","caption_entities":[{"type":"mention","offset":0,"length":13}]`, "Ann: @lastword_bot what? att=photo addressed"},
		"text mention":      {inGroup + `,"text":"Word, hi","entities":[{"type":"text_mention","offset":0,"length":4,"user":{"id":42,"is_bot":true}}]`, "Ann: Word, hi addressed"},
		"reply to the bot":  {inGroup + `,"text":"and me?",` + fromBot, "Ann: and me? quote=my answer of=you addressed"},
		"topic start":       {inGroup + `,"text":"x","message_thread_id":5,"is_topic_message":true,"reply_to_message":{"message_id":5,"chat":{"id":-100500},"from":{"id":42,"is_bot":true},"forum_topic_created":{"name":"T"}}`, "Ann: x"},
		"anonymous admin":   {`"message_id":10,"date":1,"chat":{"id":-100500,"type":"supergroup"},"from":{"id":1087968824,"is_bot":true,"first_name":"Group"},"sender_chat":{"id":-100500,"type":"supergroup"},"text":"@lastword_bot x",` + mention(0, 13), "anonymous admin: @lastword_bot x addressed"},

		"reset":              {inPrivate + `,"text":"/reset",` + commandAt(6), "reset ru"},
		"new":                {inPrivate + `,"text":"/NEW please",` + commandAt(4), "reset ru"},
		"stop":               {inPrivate + `,"text":"/stop",` + commandAt(5), "stop ru"},
		"start":              {inPrivate + `,"text":"/start x",` + commandAt(6), "say said"},
		"help":               {inPrivate + `,"text":"/help",` + commandAt(5), "say said"},
		"allow":              {inPrivate + `,"text":"/allow 5",` + commandAt(6), "say said"},
		"unknown command":    {inPrivate + `,"text":"/draw a cat",` + commandAt(5), "Ann Lee: /draw a cat"},
		"not at the start":   {inPrivate + `,"text":"/x /stop","entities":[{"type":"bot_command","offset":3,"length":5}]`, "Ann Lee: /x /stop"},
		"no entity, no cmd":  {inPrivate + `,"text":"/stop"`, "Ann Lee: /stop"},
		"named, private":     {inPrivate + `,"text":"/status@lastword_bot",` + commandAt(20), "status ru"},
		"other's, private":   {inPrivate + `,"text":"/status@another_bot",` + commandAt(19), "Ann Lee: /status@another_bot"},
		"bare in a group":    {inGroup + `,"text":"/status",` + commandAt(7), "status "},
		"named in a group":   {inGroup + `,"text":"/status@lastword_bot",` + commandAt(20), "status "},
		"other's in a group": {inGroup + `,"text":"/status@another_bot",` + commandAt(19), "nothing"},
		"unknown in a group": {inGroup + `,"text":"/draw",` + commandAt(5), "Ann: /draw"},
		"unknown, but named": {inGroup + `,"text":"/draw@lastword_bot x",` + commandAt(18), "Ann: /draw@lastword_bot x addressed"},
		"member joined":      {inGroup + `,"new_chat_members":[{"id":9}]`, "nothing"},
		"pinned":             {inGroup + `,"pinned_message":{"message_id":3}`, "nothing"},
		"topic created":      {inGroup + `,"forum_topic_created":{"name":"T"}`, "nothing"},
		"a bot":              {`"message_id":10,"date":1,"chat":{"id":7,"type":"private"},"from":{"id":7,"is_bot":true},"text":"x"`, "nothing"},
		"via a bot":          {inPrivate + `,"via_bot":{"id":5},"text":"x"`, "nothing"},
		"nobody":             {`"message_id":10,"date":1,"chat":{"id":-5,"type":"group"},"text":"x"`, "nothing"},
		"channel's forward":  {inGroup + `,"sender_chat":{"id":-100777,"type":"channel"},"is_automatic_forward":true,"text":"x"`, "nothing"},
		"as another channel": {inGroup + `,"sender_chat":{"id":-100777,"type":"channel"},"text":"x"`, "nothing"},
		"migrated to":        {`"message_id":10,"date":1,"chat":{"id":-5,"type":"group"},"from":{"id":7},"migrate_to_chat_id":-1001900000001`, "migrated to telegram/42/-1001900000001/0"},
		"migrated from":      {`"message_id":1,"date":1,"chat":{"id":-1001900000001,"type":"supergroup"},"from":{"id":7},"migrate_from_chat_id":-5`, "migrated to telegram/42/-1001900000001/0"},
	} {
		t.Run(name, func(t *testing.T) {
			a, ok := message1(t, testTranslator(open()), tt.body)
			if got := show(a.Event); !ok || got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if a.Source == (conversation.Source{}) || a.Digest == "" || a.Update != 1 {
				t.Errorf("arrival %+v", a)
			}
			if strings.HasPrefix(tt.want, "migrated") && a.Key.Chat != -5 {
				t.Errorf("migration of %v", a.Key)
			}
		})
	}
}

func TestNoArrivals(t *testing.T) {
	for name, raw := range map[string]string{
		"channel post":  `{"update_id":1,"channel_post":{"message_id":1,"date":1,"chat":{"id":-1005,"type":"channel"},"text":"x"}}`,
		"in a channel":  `{"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":-1005,"type":"channel"},"sender_chat":{"id":-1005},"text":"x"}}`,
		"channel's DMs": `{"update_id":1,"message":{"message_id":1,"date":1,"chat":{"id":-1005,"type":"supergroup","is_direct_messages":true},"from":{"id":7},"text":"x"}}`,
		"ephemeral":     `{"update_id":1,"message":{"message_id":0,"date":1,"chat":{"id":7,"type":"private"},"from":{"id":7},"text":"x"}}`,
		"new kind":      `{"update_id":1,"brand_new_kind":{"x":1}}`,
		"null":          `null`,
		"array":         `[]`,
		"odd message":   `{"update_id":1,"message":{"message_id":"not a number","chat":{"id":true}}}`,
		"odd member":    `{"update_id":1,"my_chat_member":[]}`,
		"other member":  `{"update_id":1,"my_chat_member":{"chat":{"id":-5,"type":"group"},"new_chat_member":{"user":{"id":7},"status":"left"}}}`,
	} {
		if a, ok, err := testTranslator(open()).update(json.RawMessage(raw)); ok || err != nil {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
}

func TestEdits(t *testing.T) {
	for name, tt := range map[string]struct{ body, want string }{
		"text":           {inPrivate + `,"text":"hi"`, "edit of Ann Lee: hi"},
		"mention added":  {inGroup + `,"text":"@lastword_bot x",` + mention(0, 13), "edit of Ann: @lastword_bot x addressed"},
		"into a command": {inGroup + `,"text":"/stop",` + commandAt(5), "edit of Ann: /stop"},
		"forward":        {inPrivate + `,"text":"x","forward_origin":{"type":"hidden_user","sender_user_name":"Bob"}`, "edit of Ann Lee: x fwd=Bob"},
	} {
		a, _, err := testTranslator(open()).update(json.RawMessage(`{"update_id":1,"edited_message":{` + tt.body + `}}`))
		if got := show(a.Event); err != nil || got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

func TestThreads(t *testing.T) {
	for extra, want := range map[string]int64{
		`"message_thread_id":5,"is_topic_message":true`: 5,
		`"message_thread_id":1,"is_topic_message":true`: 0,
		`"message_thread_id":5`:                         0,
		`"is_topic_message":true`:                       0,
	} {
		for _, in := range []string{inPrivate, inGroup} {
			if a, _ := message1(t, testTranslator(open()), in+`,"text":"x",`+extra); a.Key.Thread != want {
				t.Errorf("%s: thread %d", extra, a.Key.Thread)
			}
		}
	}
}

func TestMembership(t *testing.T) {
	for status, want := range map[string]string{
		`"kicked"`: "left", `"left"`: "left", `"member"`: "returned", `"administrator"`: "returned",
		`"restricted","can_send_messages":true`: "returned", `"restricted","can_send_messages":false`: "left",
	} {
		raw := `{"update_id":1,"my_chat_member":{"chat":{"id":-5,"type":"group"},"from":{"id":7},"new_chat_member":{"user":{"id":42,"is_bot":true},"status":` + status + `}}}`
		a, ok, err := testTranslator(open()).update(json.RawMessage(raw))
		if got := show(a.Event); !ok || err != nil || got != want || a.Key != key(-5) || a.Source != (conversation.Source{}) {
			t.Errorf("%s: %s %+v", status, got, a)
		}
	}
}

func FuzzUpdate(f *testing.F) {
	for _, body := range []string{
		inPrivate + `,"text":"/start x",` + commandAt(6),
		inGroup + `,"text":"👋 @lastword_bot",` + mention(3, 13),
		inGroup + `,"text":"x",` + fromBot,
		inPrivate + `,"rich_message":{"blocks":[{"text":["a",{"text":"b"}]}]}`,
		inPrivate + `,"photo":[],"forward_origin":{"type":"channel","chat":{"title":"N"}}`,
	} {
		f.Add([]byte(`{"update_id":1,"message":{` + body + `}}`))
		f.Add([]byte(`{"update_id":1,"edited_message":{` + body + `}}`))
	}
	f.Add([]byte(`{"update_id":1,"my_chat_member":{"chat":{"id":-5,"type":"group"},"new_chat_member":{"user":{"id":42},"status":"left"}}}`))
	f.Add([]byte(`{"update_id":1,"callback_query":{"id":"x","from":{"id":7}}}`))
	open, closed := testTranslator(open()), testTranslator(AccessConfig{})
	panicked := false
	handler := slog.NewTextHandler(writerFunc(func(p []byte) { panicked = panicked || strings.Contains(string(p), "panicked") }), nil)
	open.log, closed.log = slog.New(handler), slog.New(handler)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, tr := range []*translator{open, closed} {
			a, ok, err := tr.update(raw)
			if err != nil || panicked {
				t.Fatalf("%v, panicked: %v", err, panicked)
			}
			if ok && a.Key.Channel != Channel {
				t.Fatalf("arrival without a key: %+v", a)
			}
		}
	})
}

type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) { w(p); return len(p), nil }
