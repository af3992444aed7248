package bot

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	telegram "github.com/go-telegram/bot"

	"lastword/conversation"
)

// What is known of a call that did not return a result. Descriptions are no
// API: parts of them are compared without case.

// The 400s that the bot reacts to.
var (
	replyGone = []string{
		"message to be replied not found", "message to reply not found", "replied message not found",
		"reply message not found", "reply_message_id_invalid", "reply_to_message_id_invalid",
	}
	threadGone = []string{"message thread not found", "topic_deleted", "topic_closed", "message_thread_id_invalid", "topic_id_invalid"}
	textFault  = []string{"entit", "can't parse", "too long", "too_long"}

	richFault = []string{"rich_message", "rich message"}

	notModified = []string{"message is not modified", "message_not_modified"}
	notOurs     = []string{
		"message to edit not found", "message can't be edited", "message_id_invalid", "there is no text in the message to edit",
		"message_edit_time_expired", "message_author_required", "message not found",
	}

	noRights = []string{"not enough rights", "have no rights to send", "chat_write_forbidden", "need administrator rights", "user_is_blocked"}
)

// refusal returns the description of a 400, lower case; "" for any other error.
func refusal(err error) string {
	if !errors.Is(err, telegram.ErrorBadRequest) {
		return ""
	}
	return strings.ToLower(err.Error())
}

func says(description string, phrases []string) bool {
	for _, s := range phrases {
		if description != "" && strings.Contains(description, s) {
			return true
		}
	}
	return false
}

// outcome classifies the error of a send. left is whether anything of the
// request may have reached Telegram.
func (b *Bot) outcome(err error, left bool) *conversation.SendError {
	out := &conversation.SendError{Kind: conversation.InDoubt, Err: b.explain(err)}
	var flood *telegram.TooManyRequestsError
	var moved *telegram.MigrateError
	switch {
	case errors.As(err, &flood):
		out.Kind, out.After = conversation.Later, retryAfter(flood)
	case errors.As(err, &moved):
		out.Kind, out.To = conversation.Moved, int64(moved.MigrateToChatID)
	case errors.Is(err, telegram.ErrorForbidden), says(refusal(err), noRights):
		out.Kind = conversation.Away
	case errors.Is(err, telegram.ErrorBadRequest), errors.Is(err, telegram.ErrorNotFound):
		out.Kind = conversation.Refused
	case errors.Is(err, telegram.ErrorUnauthorized):
		out.Kind = conversation.NotSent // the poller ends the process
	case !left:
		out.Kind = conversation.NotSent
	}
	return out
}

// retryAfter is how long a flood wait lasts, at least a second.
func retryAfter(e *telegram.TooManyRequestsError) time.Duration {
	return time.Duration(max(e.RetryAfter, 1)) * time.Second
}

var (
	errLate       = errors.New("no answer in time")
	errUnreadable = errors.New("the answer cannot be read")
)

// explain makes an error of the library one that can be logged. The library
// wraps whole answers, which hold the text of the message.
func (b *Bot) explain(err error) error {
	var network *url.Error
	var flood *telegram.TooManyRequestsError
	var moved *telegram.MigrateError
	text := err.Error()
	switch {
	case errors.As(err, &flood), errors.As(err, &moved), strings.HasPrefix(text, "error response from telegram"):
	case errors.Is(err, telegram.ErrorBadRequest), errors.Is(err, telegram.ErrorForbidden), errors.Is(err, telegram.ErrorNotFound),
		errors.Is(err, telegram.ErrorUnauthorized), errors.Is(err, telegram.ErrorConflict):
		if _, description, ok := strings.Cut(text, ", "); ok {
			text = description
		}
	case errors.Is(err, context.DeadlineExceeded):
		return errLate
	case errors.Is(err, context.Canceled):
		return context.Canceled
	case errors.As(err, &network):
		return b.api.redact(network)
	default:
		return errUnreadable
	}
	return errors.New(b.api.clean(text))
}
