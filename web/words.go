package web

import (
	"fmt"
	"strings"
	"time"

	"lastword/conversation"
)

// words are the texts of the program itself in one language. Those that end in
// Fmt are formats: of the short id that finds an error in the log, or as their
// comment says. What the page itself says is in page/words.js.
type words struct {
	resetDone, nothingToDrop                       string
	stopDone, stopDropped, stopRest, nothingToStop string
	halted                                         string // the last line of an answer that was stopped
	failedFmt, tooLongFmt, unanswerableFmt         string
	undeliveredFmt, doubtfulFmt                    string
	statusWorking, statusIdle                      string
	statusWaitingFmt, statusVersionFmt             string // of a number
	statusTokensFmt                                string // of the numbers of prompt and completion tokens
	statusLastFmt                                  string // of how the last generation ended and how many seconds ago
	working                                        string
	outdated, redoing, busy, showing               string // answers to a button
	labels                                         map[conversation.Action]string
}

// wordsFor chooses by an IETF tag, such as pt-br.
func wordsFor(tag string) *words {
	code, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(tag, "_", "-")), "-")
	switch code {
	case "ru":
		return &russian
	case "zh":
		return &chinese
	}
	return &english
}

// noticeText words a notice.
func noticeText(n conversation.Notice, now time.Time) string {
	w := wordsFor(n.Language)
	switch n.Code {
	case conversation.Said:
		return n.Text
	case conversation.ResetDone:
		return w.resetDone
	case conversation.NothingToDrop:
		return w.nothingToDrop
	case conversation.StopDone:
		return w.stopDone
	case conversation.StopDropped:
		return w.stopDropped
	case conversation.StopRest:
		return w.stopRest
	case conversation.NothingToStop:
		return w.nothingToStop
	case conversation.StatusReport:
		return w.status(n.Status, now)
	case conversation.TooLong:
		return fmt.Sprintf(w.tooLongFmt, n.ID)
	case conversation.Unanswerable:
		return fmt.Sprintf(w.unanswerableFmt, n.ID)
	case conversation.Undelivered:
		return fmt.Sprintf(w.undeliveredFmt, n.ID)
	case conversation.Halted:
		return w.halted
	case conversation.Doubtful:
		return fmt.Sprintf(w.doubtfulFmt, n.ID)
	case conversation.Working:
		return w.working
	}
	return fmt.Sprintf(w.failedFmt, n.ID) // also of a code that is newer than this table
}

// toastText words the answer to a press; empty for none.
func toastText(n conversation.Notice) string {
	w := wordsFor(n.Language)
	switch n.Code {
	case conversation.Outdated:
		return w.outdated
	case conversation.Redoing:
		return w.redoing
	case conversation.Busy:
		return w.busy
	case conversation.Showing:
		return w.showing
	}
	return ""
}

// status words a status report, one fact a line.
func (w *words) status(s *conversation.Status, now time.Time) string {
	if s == nil {
		s = &conversation.Status{}
	}
	working := w.statusIdle
	if s.Working {
		working = w.statusWorking
	}
	lines := []string{
		working, fmt.Sprintf(w.statusWaitingFmt, s.Waiting),
		fmt.Sprintf(w.statusTokensFmt, s.Tokens.Prompt, s.Tokens.Completion), fmt.Sprintf(w.statusVersionFmt, s.Version),
	}
	if len(s.Recent) > 0 {
		e := s.Recent[0]
		lines = append(lines, fmt.Sprintf(w.statusLastFmt, e.Outcome, max(0, int(now.Sub(e.At).Seconds()))))
	}
	return strings.Join(lines, "\n")
}

var english = words{
	resetDone:     "Done, I have forgotten this conversation. What would you like to talk about?",
	nothingToDrop: "There is nothing to forget: this conversation is new.",
	stopDone:      "Stopped. What you wrote is kept: write anything to go on.",
	stopDropped:   "Stopped. I will not answer what you wrote last.",
	stopRest:      "Stopped. I will not send the rest of the answer.",
	nothingToStop: "There is nothing to stop.",
	halted:        "⏹ stopped",

	failedFmt:  "Sorry, I could not get an answer just now. I have kept your messages: write anything to try again. (error %s)",
	tooLongFmt: "Sorry, this is more than I can read at once. Please send less, or begin anew. (error %s)",
	unanswerableFmt: "Sorry, I cannot answer at the moment: the language model refuses to work for me. " +
		"Whoever runs this chat can find the reason in its log. I have kept your messages. (error %s)",
	undeliveredFmt: "Sorry, my answer could not be shown. I have kept your messages: write anything to try again. (error %s)",
	doubtfulFmt:    "My last answer may be missing. If you cannot see it, press the button. (ref %s)",

	statusWorking:    "I am working on an answer.",
	statusIdle:       "I am not working on anything.",
	statusWaitingFmt: "Messages without an answer: %d",
	statusVersionFmt: "Changes in this conversation: %d",
	statusTokensFmt:  "Tokens used: %d read, %d written",
	statusLastFmt:    "Last: %s, %d s ago",

	working:  "I am working on a longer answer.",
	outdated: "This button is no longer current.",
	redoing:  "I am writing another answer.",
	busy:     "I am at it already.",
	showing:  "Here it comes.",
	labels:   map[conversation.Action]string{conversation.ShowAnswer: "Show the answer", conversation.StopAnswer: "⏹ Stop"},
}

var russian = words{
	resetDone:     "Готово, этот разговор забыт. О чём поговорим?",
	nothingToDrop: "Забывать нечего: разговор ещё не начался.",
	stopDone:      "Остановлено. Ваши сообщения сохранены: напишите что-нибудь, чтобы продолжить.",
	stopDropped:   "Остановлено. На последние сообщения я отвечать не буду.",
	stopRest:      "Остановлено. Остаток ответа отправлять не буду.",
	nothingToStop: "Останавливать нечего.",
	halted:        "⏹ остановлено",

	failedFmt:  "Извините, сейчас ответить не получилось. Ваши сообщения сохранены: напишите что-нибудь, и я попробую ещё раз. (ошибка %s)",
	tooLongFmt: "Извините, это больше, чем я могу прочитать за один раз. Пришлите, пожалуйста, меньше или начните заново. (ошибка %s)",
	unanswerableFmt: "Извините, сейчас я не могу отвечать: языковая модель отказывается со мной работать. " +
		"Причину найдёт в журнале тот, кто запустил этот чат. Ваши сообщения сохранены. (ошибка %s)",
	undeliveredFmt: "Извините, мой ответ не удалось показать. Ваши сообщения сохранены: напишите что-нибудь, и я попробую ещё раз. (ошибка %s)",
	doubtfulFmt:    "Возможно, моего последнего ответа не хватает. Если вы его не видите, нажмите кнопку. (код %s)",

	statusWorking:    "Работаю над ответом.",
	statusIdle:       "Сейчас ничем не занят.",
	statusWaitingFmt: "Сообщений без ответа: %d",
	statusVersionFmt: "Изменений в этом разговоре: %d",
	statusTokensFmt:  "Токенов прочитано: %d, написано: %d",
	statusLastFmt:    "Последнее: %s, %d с назад",

	working:  "Работаю над длинным ответом.",
	outdated: "Эта кнопка больше не действует.",
	redoing:  "Пишу другой ответ.",
	busy:     "Уже занимаюсь этим.",
	showing:  "Показываю.",
	labels:   map[conversation.Action]string{conversation.ShowAnswer: "Показать ответ", conversation.StopAnswer: "⏹ Остановить"},
}

var chinese = words{
	resetDone:     "好了，这段对话我已经忘掉了。想聊点什么？",
	nothingToDrop: "没有什么可忘的：对话还没开始。",
	stopDone:      "已停止。你的消息还在，随便发点什么就可以继续。",
	stopDropped:   "已停止。刚才的消息我不会再回答。",
	stopRest:      "已停止。剩下的回答不再发送。",
	nothingToStop: "现在没有什么可以停止的。",
	halted:        "⏹ 已停止",

	failedFmt:       "抱歉，刚才没能得到回答。你的消息我都留着：随便发点什么，我就再试一次。（错误 %s）",
	tooLongFmt:      "抱歉，内容太长，我一次读不完。请少发一些，或重新开始。（错误 %s）",
	unanswerableFmt: "抱歉，我暂时无法回答：语言模型拒绝为我服务。聊天的管理者可以在日志里查到原因。你的消息我都留着。（错误 %s）",
	undeliveredFmt:  "抱歉，我的回答没能显示。你的消息我都留着：随便发点什么，我就再试一次。（错误 %s）",
	doubtfulFmt:     "我上一条回答可能缺失。如果你没看到，请按下面的按钮。（编号 %s）",

	statusWorking:    "我正在准备回答。",
	statusIdle:       "我现在没有在做什么。",
	statusWaitingFmt: "还没回答的消息：%d",
	statusVersionFmt: "本次对话的变动次数：%d",
	statusTokensFmt:  "已用 token：读取 %d，生成 %d",
	statusLastFmt:    "最近一次：%s，%d 秒前",

	working:  "正在写一个较长的回答。",
	outdated: "这个按钮已经失效。",
	redoing:  "正在重新回答。",
	busy:     "正在处理。",
	showing:  "马上显示。",
	labels:   map[conversation.Action]string{conversation.ShowAnswer: "显示回答", conversation.StopAnswer: "⏹ 停止"},
}
