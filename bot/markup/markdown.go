package markup

import (
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Markdown renders the Markdown of a finished answer.
func Markdown(src string) Text { return render(clean(src), false) }

// Draft renders the Markdown of an answer that is still being written: like
// Markdown, but a fence that is not closed yet is code already, so that a
// preview does not jump when the closing fence arrives.
func Draft(src string) Text { return render(clean(src), true) }

func render(src string, draft bool) (t Text) {
	if len(src) > maxSource {
		return Plain(src)
	}
	// A belt around goldmark, which asserts some of its invariants by panics: an
	// answer is better plain than lost, and a bot better alive than right.
	defer func() {
		if recover() != nil {
			t = Plain(src)
		}
	}()
	source := []byte(src)
	r := renderer{source: source, draft: draft}
	r.blocks(markdown.Parse(text.NewReader(source)))
	return r.out.result()
}

// markdown parses CommonMark with tables and task lists, without HTML,
// underlined headings and reference links. It is safe for concurrent use.
var markdown = newParser()

func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(container{BlockParser: parser.NewListParser()}, 300),
			util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(indented{parser.NewCodeBlockParser(), parser.NewParagraphParser()}, 500),
			util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(fence{parser.NewFencedCodeBlockParser()}, 700),
			util.Prioritized(container{BlockParser: parser.NewBlockquoteParser(), quote: true}, 800),
			util.Prioritized(formulaParser{}, 900),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(taskParser{}, 0),
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(mathParser{}, 150),
			util.Prioritized(bracket{parser.NewLinkParser(), newCounter(maxBrackets)}, 200),
			util.Prioritized(urlParser{}, 300),
			util.Prioritized(&delimiterParser{newCounter(maxDelimiters)}, 500),
		),
		parser.WithParagraphTransformers(util.Prioritized(newTables(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}
