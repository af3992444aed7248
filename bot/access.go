package bot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"lastword/conversation"
)

// gate decides who may talk to the bot, before anything reaches the engine.
// Whom the configuration does not list, the owner can admit. It belongs to the
// goroutine that polls; what it remembers is stored before it counts.
type gate struct {
	config AccessConfig
	bot    int64
	store  conversation.Store
	now    func() time.Time
	guest  guestBook

	tries  []time.Time // wrong codes of the last hour
	closed time.Time   // until when codes are not looked at
}

// guestBook is the record of a gate, the meta value access/<bot>.
type guestBook struct {
	Owner     int64             `json:"owner,omitempty"`
	Allowed   []int64           `json:"allowed,omitempty"`   // users positive, groups negative
	Code      string            `json:"code,omitempty"`      // hash of the pairing code that is valid
	Strangers map[int64]visitor `json:"strangers,omitempty"` // by chat: who was told that the bot is private
}

// visitor is when a stranger was told, and because of which update: if that
// one comes again it has the same effect.
type visitor struct {
	At     time.Time `json:"at"`
	Update int64     `json:"update"`
}

const (
	mostStrangers  = 1000 // newest kept
	strangersEvery = 24 * time.Hour
)

func (g *gate) name() string { return "access/" + strconv.FormatInt(g.bot, 10) }

// load reads the record.
func (g *gate) load() error {
	return g.store.View(func(tx conversation.Tx) error {
		data, err := tx.Meta(g.name())
		if err != nil || data == nil {
			return err
		}
		var guest *guestBook // nil for null, which is no empty one: its owner would be lost
		if err := json.Unmarshal(data, &guest); err != nil || guest == nil {
			return fmt.Errorf("bucket meta, key %q: the record is damaged (%d bytes, %T)", g.name(), len(data), err)
		}
		g.guest = *guest
		return nil
	})
}

// save stores a changed record, which counts from then on.
func (g *gate) save(change func(*guestBook)) error {
	next := g.guest
	next.Allowed = slices.Clone(next.Allowed)
	next.Strangers = maps.Clone(next.Strangers)
	change(&next)
	data, err := json.Marshal(next)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", g.name(), err)
	}
	if err := g.store.Update(func(tx conversation.Tx) error { return tx.SetMeta(g.name(), data) }); err != nil {
		return fmt.Errorf("storing %s: %w", g.name(), err)
	}
	g.guest = next
	return nil
}

// admits reports whether what is said in a chat reaches the engine.
func (g *gate) admits(c chat) bool {
	switch {
	case g.config.Open, slices.Contains(g.guest.Allowed, c.ID):
		return true
	case c.private():
		return c.ID == g.guest.Owner || slices.Contains(g.config.Users, c.ID)
	}
	return slices.Contains(g.config.Groups, c.ID)
}

// moved lets a group that has got another id stay admitted.
func (g *gate) moved(from, to int64) error {
	if g.config.Open || !g.admits(chat{ID: from, Type: "group"}) || g.admits(chat{ID: to, Type: "supergroup"}) {
		return nil
	}
	return g.save(func(b *guestBook) { b.Allowed = append(b.Allowed, to) })
}

// stranger answers somebody who is not admitted: with the code they become the
// owner, without it they are told once a day that the bot is private.
func (g *gate) stranger(r request) (conversation.Event, error) {
	w := wordsFor(r.language)
	if r.author == g.guest.Owner && g.guest.Owner != 0 && (r.command.name == "allow" || r.command.name == "deny") {
		return g.change(r) // the owner, in a group that is to be admitted
	}
	if r.Chat.private() && r.command.name == "start" && g.opens(r.command.args) {
		err := g.save(func(b *guestBook) { b.Owner, b.Code = r.author, "" })
		return say(w.paired, r.language), err
	}
	if !r.addressed {
		return nil, nil
	}
	last, known := g.guest.Strangers[r.Chat.ID]
	if known && last.Update != r.update && g.now().Sub(last.At).Abs() < strangersEvery {
		return nil, nil
	}
	if !known || last.Update != r.update {
		if err := g.save(func(b *guestBook) { b.met(r.Chat.ID, visitor{g.now(), r.update}) }); err != nil {
			return nil, err
		}
	}
	if r.Chat.private() {
		return say(fmt.Sprintf(w.strangerFmt, r.author), r.language), nil
	}
	return say(w.strangeGroup, r.language), nil
}

// met notes a stranger and forgets the oldest of too many.
func (b *guestBook) met(chat int64, v visitor) {
	if b.Strangers == nil {
		b.Strangers = map[int64]visitor{}
	}
	b.Strangers[chat] = v
	for len(b.Strangers) > mostStrangers {
		oldest := chat
		for id, o := range b.Strangers {
			if o.At.Before(b.Strangers[oldest].At) {
				oldest = id
			}
		}
		delete(b.Strangers, oldest)
	}
}

// change carries out /allow and /deny.
func (g *gate) change(r request) (conversation.Event, error) {
	w := wordsFor(r.language)
	if r.author != g.guest.Owner || g.guest.Owner == 0 {
		return say(w.notOwner, r.language), nil
	}
	id := g.subject(r)
	allow := r.command.name == "allow"
	switch {
	case id == 0:
		return say(w.allowUsage, r.language), nil
	case g.config.Open:
		return say(w.openToAll, r.language), nil
	case !allow && (id == g.guest.Owner || slices.Contains(g.config.Users, id) || slices.Contains(g.config.Groups, id)):
		return say(fmt.Sprintf(w.cannotDenyFmt, id), r.language), nil
	}
	err := g.save(func(b *guestBook) {
		b.Allowed = slices.DeleteFunc(b.Allowed, func(a int64) bool { return a == id })
		if allow {
			b.Allowed = append(b.Allowed, id)
			delete(b.Strangers, id)
		}
	})
	if allow {
		return say(fmt.Sprintf(w.allowedFmt, id), r.language), err
	}
	return say(fmt.Sprintf(w.deniedFmt, id), r.language), err
}

// subject is whom /allow or /deny is about: the id given, the author of the
// message replied to or forwarded there, or the group itself. 0 for nobody.
func (g *gate) subject(r request) int64 {
	if r.command.args != "" {
		id, err := strconv.ParseInt(strings.TrimSpace(r.command.args), 10, 64)
		if err != nil {
			return 0
		}
		return id
	}
	if m := r.replied(); m != nil && !topicStart(m) {
		if o := field[originator](m, "forward_origin"); o.User != nil && !o.User.IsBot {
			return o.User.ID
		}
		if from := m.from(); from != nil && !from.IsBot && from.ID != r.author {
			return from.ID
		}
	}
	if !r.Chat.private() {
		return r.Chat.ID
	}
	return 0
}
