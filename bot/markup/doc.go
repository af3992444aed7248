// Package markup turns the Markdown of a language model into what Telegram
// shows: text and entities, in parts that fit into messages.
//
// # Why entities
//
// Telegram's own parse modes reject a whole message for one stray asterisk.
// Entities are ranges beside the text: they need no escaping and cannot fail to
// parse. So Markdown is parsed here, with goldmark, and rendered as text plus
// ranges counted in UTF-16 code units, Telegram's unit.
//
// # What is promised
//
//	M1  Text without Markdown constructs comes out byte for byte, apart from
//	    white space at its two ends, which Telegram removes anyway, and control
//	    characters, which it does not show.
//	M2  What cannot be shown stays literal: HTML, links that are not http(s),
//	    reference links, footnotes, formulas, unclosed fences.
//	M3  Entities are non-empty, within the text, sorted, on character
//	    boundaries, and nested only as Telegram allows.
//	M4  Parts of Split are within the limits and together are the whole text,
//	    apart from white space at the cuts.
//	M5  Any input is answered, in time linear in its length, give or take
//	    bounded factors.
//
// # Where it departs from CommonMark
//
// Models write Markdown, but also plain text with paths, globs, powers and
// URLs. Where the two readings conflict and a wrong guess would lose
// characters, the text wins: intraword asterisks between digits or single
// letters are literal, so are delimiters glued to a path; a '>' needs a space
// after it; a line under a paragraph is a rule and not a heading; reference
// definitions stay visible; entities such as &amp; stay as typed; a newline is
// a newline. Asterisks beside Chinese and Japanese punctuation, which CommonMark
// leaves literal, do format, because models mean them so.
//
// # How it works
//
//	source → clean → goldmark with guarded parsers → tree → renderer → Text → Split
//
// The guards (guard.go) bound what is quadratic or worse in a Markdown parser:
// nesting, delimiters and brackets per paragraph, cells per table. What is over a
// bound is read as text.
package markup
