package bot

import "lastword/conversation"

var chinese = words{
	start: "你好！像跟朋友聊天一样给我发消息就行：一条或连着几条都可以，我会等你说完再回答。" +
		"我思考的时候，你也可以修改或补充。\n\n发送 /help 看看我还能做什么。",
	help: "直接发消息就好。等你说完我再回答，你的修改和补充我也会考虑进去。" +
		"在群组里，提到我或回复我的消息，我就会回答。\n\n" +
		"/new – 忘掉这段对话，重新开始\n" +
		"/stop – 停下我正在做的事\n" +
		"/status – 我在做什么，最近情况如何\n" +
		"/help – 显示这段说明",

	resetDone:     "好了，这段对话我已经忘掉了。想聊点什么？",
	nothingToDrop: "没有什么可忘的：对话还没开始。",
	stopDone:      "已停止。你的消息还在，随便发点什么就可以继续。",
	stopDropped:   "已停止。刚才的消息我不会再回答。",
	stopRest:      "已停止。剩下的回答不再发送。",
	halted:        "⏹ 已停止",
	nothingToStop: "现在没有什么可以停止的。",

	failedFmt:       "抱歉，刚才没能得到回答。你的消息我都留着：随便发点什么，我就再试一次。（错误 %s）",
	tooLongFmt:      "抱歉，内容太长，我一次读不完。请少发一些，或用 /new 重新开始。（错误 %s）",
	unanswerableFmt: "抱歉，我暂时无法回答：语言模型拒绝为我服务。机器人的管理者可以在日志里查到原因。你的消息我都留着。（错误 %s）",
	undeliveredFmt:  "抱歉，Telegram 没有接受我的回答。你的消息我都留着：随便发点什么，我就再试一次。（错误 %s）",
	doubtfulFmt:     "我上一条回答可能没有送到：Telegram 没有确认。如果你没看到，请按下面的按钮。（编号 %s）",

	statusVersionFmt: "本次对话的变动次数：%d",
	statusWaitingFmt: "还没回答的消息：%d",
	statusTokensFmt:  "已用 token：读取 %d，生成 %d",
	statusWorking:    "我正在准备回答。",
	statusIdle:       "我现在没有在做什么。",
	statusRecent:     "最近：",
	outcomes: map[conversation.Outcome]string{
		conversation.WasSent:       "已回答",
		conversation.WasStale:      "因有新消息而作废",
		conversation.WasSuperseded: "因有新消息而中断",
		conversation.WasWithdrawn:  "因有新消息而撤回",
		conversation.WasStopped:    "已停止",
		conversation.WasFailed:     "失败",
		conversation.LeaseLost:     "因重启而中断",
	},
	now:        "刚刚",
	secondsFmt: "%d 秒前",
	minutesFmt: "%d 分钟前",
	hoursFmt:   "%d 小时前",
	daysFmt:    "%d 天前",
	tookFmt:    "，用时 %.1f 秒",

	working:  "正在写一个较长的回答。",
	outdated: "这个按钮已经失效。",
	redoing:  "正在重新回答。",
	busy:     "正在处理。",
	showing:  "马上显示。",
	labels: map[conversation.Action]string{
		conversation.ShowAnswer: "显示回答",
		conversation.StopAnswer: "⏹ 停止",
	},

	paired: "欢迎！你现在是这个机器人的主人。没有你的允许，别人不能和它说话：" +
		"发送 /allow 加用户编号，或在群组里发送 /allow。现在，像跟朋友聊天一样给我发消息吧。",
	strangerFmt:   "你好！这是私人机器人，我只回答主人允许的人。你的编号是 %d，请把它告诉主人。",
	strangeGroup:  "你好！这是私人机器人，主人还没有允许这个群组使用。主人可以在这里发送 /allow。",
	notOwner:      "抱歉，只有机器人的主人才能这样做。",
	allowUsage:    "请给出编号，例如 /allow 123456789，或用这个命令回复对方的消息，或直接在相应的群组里使用。",
	openToAll:     "这个机器人对所有人开放，不需要允许或禁止谁。",
	allowedFmt:    "好了，%d 现在可以和我说话了。",
	deniedFmt:     "好了，%d 不能再和我说话了。",
	cannotDenyFmt: "%d 是机器人的主人，或写在配置里，只能在那里修改。",

	commands: map[string]string{
		"new":    "忘掉这段对话，重新开始",
		"stop":   "停下我正在做的事",
		"status": "我在做什么，最近情况如何",
		"help":   "我能做什么",
	},
}
