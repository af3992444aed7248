package bot

import "lastword/conversation"

var english = words{
	start: "Hello! Write to me as you would to a person: in one message or in several, I wait until you have finished. " +
		"You can edit what you wrote or add to it while I am thinking.\n\n/help tells what else I can do.",
	help: "Just write. I answer when you have finished, and take edits and late additions into account. " +
		"In groups I answer when you mention me or reply to me.\n\n" +
		"/new – forget this conversation and start anew\n" +
		"/stop – stop what I am doing\n" +
		"/status – what I am doing, and how it went\n" +
		"/help – this text",

	resetDone:     "Done, I have forgotten this conversation. What would you like to talk about?",
	nothingToDrop: "There is nothing to forget: this conversation is new.",
	stopDone:      "Stopped. What you wrote is kept: write anything to go on.",
	stopDropped:   "Stopped. I will not answer what you wrote last.",
	stopRest:      "Stopped. I will not send the rest of the answer.",
	nothingToStop: "There is nothing to stop.",
	halted:        "⏹ stopped",

	failedFmt:  "Sorry, I could not get an answer just now. I have kept your messages: write anything to try again. (error %s)",
	tooLongFmt: "Sorry, this is more than I can read at once. Please send less, or begin anew with /new. (error %s)",
	unanswerableFmt: "Sorry, I cannot answer at the moment: the language model refuses to work for me. " +
		"Whoever runs this bot can find the reason in its log. I have kept your messages. (error %s)",
	undeliveredFmt: "Sorry, Telegram did not accept my answer. I have kept your messages: write anything to try again. (error %s)",
	doubtfulFmt:    "My last answer may not have reached you: Telegram did not confirm it. If you cannot see it, press the button. (ref %s)",

	statusVersionFmt: "Changes in this conversation: %d",
	statusWaitingFmt: "Messages without an answer: %d",
	statusTokensFmt:  "Tokens used: %d read, %d written",
	statusWorking:    "I am working on an answer.",
	statusIdle:       "I am not working on anything.",
	statusRecent:     "Lately:",
	outcomes: map[conversation.Outcome]string{
		conversation.WasSent:       "answered",
		conversation.WasStale:      "thrown away because something newer came",
		conversation.WasSuperseded: "broken off because something newer came",
		conversation.WasWithdrawn:  "withdrawn because something newer came",
		conversation.WasStopped:    "stopped",
		conversation.WasFailed:     "failed",
		conversation.LeaseLost:     "interrupted by a restart",
	},
	now:        "just now",
	secondsFmt: "%d s ago",
	minutesFmt: "%d min ago",
	hoursFmt:   "%d h ago",
	daysFmt:    "%d days ago",
	tookFmt:    ", took %.1f s",

	working:  "I am working on a longer answer.",
	outdated: "This button is no longer current.",
	redoing:  "I am writing another answer.",
	busy:     "I am at it already.",
	showing:  "Here it comes.",
	labels: map[conversation.Action]string{
		conversation.ShowAnswer: "Show the answer",
		conversation.StopAnswer: "⏹ Stop",
	},

	paired: "Welcome! You are now the owner of this bot. Nobody else can talk to it unless you let them: " +
		"/allow and a user's id, or /allow in a group. Now write to me as you would to a person.",
	strangerFmt:   "Hello! This is a private bot: I answer only people whom its owner has let in. Your id is %d; the owner needs it to do so.",
	strangeGroup:  "Hello! This is a private bot, and its owner has not let this group in. The owner can do so with /allow here.",
	notOwner:      "Sorry, only the owner of this bot can do that.",
	allowUsage:    "Please give an id, as in /allow 123456789, reply to a message of the person, or use the command in the group that it is about.",
	openToAll:     "This bot is open to everybody, so there is nobody to let in or to keep out.",
	allowedFmt:    "Done, %d can talk to me now.",
	deniedFmt:     "Done, %d cannot talk to me any more.",
	cannotDenyFmt: "%d owns this bot or is listed in its configuration; that can only be changed there.",

	commands: map[string]string{
		"new":    "Forget this conversation and start anew",
		"stop":   "Stop what I am doing",
		"status": "What I am doing, and how it went",
		"help":   "What I can do",
	},
}
