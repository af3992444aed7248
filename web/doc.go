// Package web is a chat in the browser; [Server] implements
// conversation.Channel over WebSocket, with an engine of its own beside that of
// Telegram, over the same store.
//
//	page → socket → log and receipt → engine → acknowledged
//	engine → log → every connection reads on from where it is
//
// # What is shown is stored first
//
// What a session shows is a log in the store (log.go). A message of the model is
// written there before anybody sees it, under a mark that the engine's claim of
// the part determines: written twice it is there once, and after a crash the
// engine's look finds it or not, for certain (I2). No send has an unknown
// outcome. A message of a person is written there with a receipt, is handed to
// the engine, and acknowledged when it is on disk there (I1); what a crash in
// between leaves is handed over by the next start.
//
// # Three races
//
// Two windows of one session: it belongs to one connection, by compare-and-swap
// (session.go). A refresh is absorbed by a few tries, a zombie, which does not
// answer a ping within a second, is replaced, and a newcomer to a living one is
// closed with 4009 and may take over.
//
// A message while an answer is written: it is stored and acknowledged like any
// other; message_buffered tells its place.
//
// A connection that is half open: each side pings the other; what is not
// acknowledged is sent again, unchanged, under the same client_msg_id, which is
// known for a day, across restarts; and what to show the page never guesses but
// asks for, from the last sequence number that it has.
//
// # Frames
//
// A frame is one JSON object in a text message with v, the version 1, and type.
// Unknown fields are ignored. docs/web-protocol.md has all of them with
// examples, for whoever writes another client.
//
//	page      hello message edit stop reset status press history ping inspect
//	server    welcome history message_ack message_nack message_buffered state
//	          preview toast pong inspect
//
// The first frame is a hello. Those of the page that have a client_msg_id are
// answered by message_ack or message_nack with it. Closing codes: 4000 a frame
// that makes no sense, 4008 far too many, 4009 open in another window, 1001 the
// server ends, 1009 a frame of more than 256 KiB, 1013 try again later.
//
// # Who may
//
// Everybody who can open the page may talk, at the owner's cost: what is in
// front of it decides who can. Sessions are told apart by a secret of 256 bits in
// a cookie that scripts cannot read. A socket is accepted from the origins of
// web.origins only, compared exactly. The page has no HTML of a model: it makes
// nodes and texts of Markdown. No log line holds a text, a secret or a cookie
// (I8).
package web
