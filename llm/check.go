package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"lastword/conversation"
)

// Check finds out whether the service can be reached, takes the key and has the
// model, and says which setting to correct if not. Where there is no list of
// models it asks for an answer of one token.
func (c *Client) Check(ctx context.Context) error {
	names, err := c.list(ctx)
	switch {
	case err != nil:
		return err
	case len(names) == 0:
		return c.Probe(ctx)
	}
	return c.find(names)
}

// Models lists by name what the service offers; nothing if it has no list. The
// error says which setting to correct. A name that does not look like one is
// left out.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	names, err := c.list(ctx)
	names = slices.DeleteFunc(names, func(n string) bool { return !c.showable(n) })
	slices.Sort(names)
	return slices.Compact(names), err
}

// list asks for the list of models. It is empty if there is none.
func (c *Client) list(ctx context.Context) ([]string, error) {
	listCtx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	resp, err := c.send(listCtx, http.MethodGet, "models", nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ended(ctx)
		}
		return nil, fmt.Errorf("llm.base_url: the service cannot be reached: %w", describe(err))
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusMethodNotAllowed:
		return nil, nil
	case resp.StatusCode/100 != 2:
		return nil, explain(c.refusal(resp.StatusCode, readFault(resp), resp.Header))
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("llm.base_url: the list of models cannot be read: %w", describe(err))
	}
	return modelNames(data), nil
}

// Probe asks for an answer of one token. That finds out more than Check where a
// list of models is given to everybody, whatever the key. That the answer comes
// out empty is fine: a model may think first.
func (c *Client) Probe(ctx context.Context) error {
	body := c.request([]conversation.PromptMessage{{Role: conversation.User, Text: "Hi"}})
	body.limit(c.cfg.MaxTokensField, 1)
	_, err := c.exchange(ctx, body, nil)
	if errors.Is(err, errEmpty) || errors.Is(err, errAllUsed) {
		return nil
	}
	return explain(err)
}

// explain names the setting that an error is about.
func explain(err error) error {
	var refused *serviceError
	var failed *conversation.ModelError
	switch {
	case !errors.As(err, &failed):
		return err
	case !errors.As(err, &refused):
		return fmt.Errorf("llm.base_url: no answer: %w", failed.Err)
	case refused.status == http.StatusUnauthorized, refused.status == http.StatusForbidden:
		return fmt.Errorf("llm.api_key: the key was refused: %w", refused)
	case failed.Kind == conversation.Denied:
		return fmt.Errorf("llm.api_key: the key's account has no credit or is not allowed this: %w", refused)
	case refused.status == http.StatusNotFound:
		return fmt.Errorf("llm.model or llm.base_url: the service knows no such model or no such path: %w", refused)
	case failed.Kind == conversation.Rejected && refused.status >= 400:
		return fmt.Errorf("llm: the service refuses the request, perhaps for llm.model: %w", refused)
	default:
		return fmt.Errorf("llm.base_url: the service does not answer as it should: %w", refused)
	}
}

// modelNames reads the names from a list of models; none if it is not one.
func modelNames(data []byte) []string {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &list) != nil {
		var bare []struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(bytes.TrimSpace(data), &bare) != nil { // Together's list is an array
			return nil
		}
		list.Data = bare
	}
	var names []string
	for _, m := range list.Data {
		if m.ID != "" {
			names = append(names, m.ID)
		}
	}
	return names
}

var modelName = regexp.MustCompile(`^[\w.:/@+-]{1,100}$`)

// find looks for the model in the list of those that there are.
func (c *Client) find(names []string) error {
	want := plainName(c.cfg.Model)
	base, _, _ := strings.Cut(want, ":")
	var near []string
	for _, n := range names {
		have := plainName(n)
		// OpenRouter takes variants like model:nitro that are not in its list.
		if have == want || have == base {
			return nil
		}
		if c.showable(n) {
			near = append(near, n)
		}
	}
	slices.SortStableFunc(near, func(a, b string) int {
		return cmp.Compare(distance(want, plainName(a)), distance(want, plainName(b)))
	})
	err := fmt.Errorf("llm.model: the service has no model %q", c.cfg.Model)
	if near = near[:min(len(near), 5)]; len(near) > 0 {
		return fmt.Errorf("%w; near it are %s", err, strings.Join(near, ", "))
	}
	return err
}

// showable reports whether a name can be printed: it looks like one, and the
// key is not in it.
func (c *Client) showable(name string) bool {
	return modelName.MatchString(name) && !strings.Contains(name, cmp.Or(string(c.key()), "\n"))
}

// plainName removes what services add to a name without need: Gemini's prefix,
// Ollama's tag.
func plainName(s string) string {
	return strings.TrimSuffix(strings.TrimPrefix(s, "models/"), ":latest")
}

// distance is how many letters have to change to make b of a (Levenshtein). A
// name that only lacks the maker, or a date, is as near as can be.
func distance(a, b string) int {
	if strings.Contains(b, a) {
		return 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
