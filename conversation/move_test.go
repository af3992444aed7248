package conversation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

// A group that becomes a supergroup, with both chats in odd phases when the bot
// gets to know that they are one.

var (
	group = conversation.Key{Channel: "test", Bot: 1, Chat: -5}
	super = conversation.Key{Channel: "test", Bot: 1, Chat: -1005}
)

// migrate lets the bot know of the move.
func (w *world) migrate() {
	w.t.Helper()
	src := conversation.Source{Chat: group.Chat, ID: w.channel.Next(group, "moved")}
	w.deliver(conversation.Arrival{Key: group, Source: src, Event: conversation.Migrated{To: super}})
}

// A notice of the new chat is on its way: later ones are not held up by it.
func TestMoveWithANoticeOnItsWay(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(group, "#old")
		w.after(3 * time.Second)
		slow := true
		w.channel.Fault = func(n int, to conversation.Key, text string) conversationtest.Fault {
			if to == super && slow {
				slow = false
				return conversationtest.Fault{After: time.Second}
			}
			return conversationtest.Fault{}
		}
		w.command(super, conversation.Stop{})
		w.migrate()
		w.after(3 * time.Second)
		w.command(super, conversation.Reset{})
		w.after(time.Minute)
		w.wantShown(super, "(nothing_to_stop)", "(reset_done)")
	})
}

// The old chat rests after a stop, the new one waits: the turn covers both.
func TestMoveOfARestingChat(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(group, "#old")
		w.after(500 * time.Millisecond)
		w.command(group, conversation.Stop{})
		w.after(time.Second)
		w.say(super, "#new")
		w.migrate()
		w.after(time.Hour)
		w.wantShown(super, "re: #old #new")
	})
}

// Both chats have a history: nothing of it is lost, and it stays in order.
func TestMoveJoinsTheHistories(t *testing.T) {
	inWorld(t, func(w *world) {
		for i := range 2 {
			w.say(group, fmt.Sprintf("#g%d", i))
			w.after(3 * time.Second)
		}
		for i := range 3 {
			w.say(super, fmt.Sprintf("#s%d", i))
			w.after(3 * time.Second)
		}
		w.migrate()
		for i := range 3 {
			w.say(super, fmt.Sprintf("#n%d", i))
			w.after(3 * time.Second)
		}
		calls := w.model.Calls()
		if n := len(calls[len(calls)-1].Prompt); n != 15 {
			t.Errorf("prompt has %d messages, want 7 turns and the question = 15", n)
		}
	})
}

// A reply of the new chat waits and nobody has seen it: its messages are asked
// again behind what moved, and are in the history once (I7).
func TestMoveWithAReplyThatWaits(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(group, "#old")
		w.after(3 * time.Second)
		w.channel.Fault = func(n int, to conversation.Key, text string) conversationtest.Fault {
			if to == super && n < 4 {
				return conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.Later, After: 5 * time.Second, Err: errTest}}
			}
			return conversationtest.Fault{}
		}
		w.say(super, "#new")
		w.after(2 * time.Second)
		w.migrate()
		w.after(time.Minute)
		w.say(super, "#next")
		w.after(time.Minute)
		w.wantShown(super, "re: #new", "re: #next")
		calls := w.model.Calls()
		if got := fmt.Sprint(calls[len(calls)-1].Prompt); got != "[{user #old} {assistant re: #old} {user #new} {assistant re: #new} {user #next}]" {
			t.Errorf("the last prompt is %s", got)
		}
	})
}

// A reply is visible in the new chat: it is not given again.
func TestMoveWithAVisibleReply(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(group, "#old")
		w.after(3 * time.Second)
		w.channel.Fault = func(n int, to conversation.Key, text string) conversationtest.Fault {
			if to == super && n == 2 {
				return conversationtest.Fault{After: time.Second}
			}
			return conversationtest.Fault{}
		}
		w.say(super, "#new")
		w.after(1400 * time.Millisecond)
		w.migrate()
		w.after(20 * time.Second)
		w.wantShown(super, "re: #new")
	})
}

// Both chats have a reply on its way, under the same number.
func TestMoveWithTwoRepliesOnTheirWay(t *testing.T) {
	inWorld(t, func(w *world) {
		w.channel.Fault = func(n int, to conversation.Key, text string) conversationtest.Fault {
			if to == super && n == 2 {
				return conversationtest.Fault{After: time.Second}
			}
			if to == group {
				return conversationtest.Fault{Before: 5 * time.Second, Err: &conversation.SendError{Kind: conversation.Moved, To: super.Chat, Err: errTest}}
			}
			return conversationtest.Fault{}
		}
		w.say(group, "#old")
		w.after(200 * time.Millisecond)
		w.say(super, "#new")
		w.after(1400 * time.Millisecond)
		w.migrate()
		w.after(20 * time.Second)
		var replies []string
		for _, text := range w.channel.Texts(super) {
			if strings.HasPrefix(text, "re:") {
				replies = append(replies, text)
			}
		}
		if got := strings.Join(replies, "|"); got != "re: #new|re: #old" {
			t.Errorf("shown %q", w.channel.Texts(super))
		}
	})
}

// TestMoveWithALostAnswer: a part that may have become visible in the group as
// it was cannot be looked for in the supergroup: it is not sent again (I2), and
// a button shows it (I1).
func TestMoveWithALostAnswer(t *testing.T) {
	moved := conversation.Key{Channel: "test", Bot: 1, Chat: 901}
	for _, landed := range []bool{true, false} {
		for at := time.Duration(0); at < 3*time.Second; at += 250 * time.Millisecond {
			inWorld(t, func(w *world) {
				w.channel.Fault = func(n int, _ conversation.Key, _ string) conversationtest.Fault {
					if n > 1 {
						return conversationtest.Fault{}
					}
					return conversationtest.Fault{After: 300 * time.Millisecond, Landed: landed, Err: &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}}
				}
				w.say(alice, "#1")
				w.after(1350 * time.Millisecond) // the send is under way
				w.after(at)
				w.deliver(conversation.Arrival{Key: alice, Event: conversation.Migrated{To: moved}})
				w.after(time.Minute)
				shown := append(w.channel.Texts(alice), w.channel.Texts(moved)...)
				n := strings.Count(strings.Join(shown, " "), "re: #1")
				if landed && n != 1 || n > 1 {
					t.Errorf("landed %t, moved after %v: shown %q", landed, at, shown)
				}
				if n == 0 {
					w.press(moved, "show")
					w.after(time.Minute)
					if got := w.channel.Texts(moved); len(got) != 2 || got[1] != "re: #1" {
						t.Errorf("moved after %v: shown %q", at, got)
					}
				}
			})
		}
	}
}
