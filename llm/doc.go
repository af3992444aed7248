// Package llm asks models behind OpenAI-compatible services; [Client]
// implements conversation.Model.
//
// One call is one streamed chat completion. It passes through four layers:
//
//	Client.Generate   a free place, the prompt, the outcome
//	exchange          one request under the watch of three timeouts
//	events            lines of an event stream → the data in them
//	answer            data → text, usage, an end; or what went wrong
//
// Services and the proxies before them are not honest: streams break off
// without an error, errors arrive with status 200 in the middle of a text, a
// page of HTML takes the place of an answer. So an answer counts as complete
// only if it has text that is not blank and its end was seen, a finish reason
// or [DONE]; what else arrives is an error with a kind that the engine can
// decide by. The decoder asks for no more than it needs: a field of an
// unexpected type costs that field, not the answer. Except for the content: an
// answer is never returned with a hole in it.
//
// Only content and reasoning are signs of life. Keep-alive comments and empty
// pieces come from proxies that know nothing of the model's state, so a
// stalled call is ended although they still arrive.
//
// Nothing is retried here but a request that asked for something optional that
// the service does not know; the engine retries.
//
// Errors are made to be logged. A service's message can echo the prompt or the
// key, so it is looked at to classify the error and then dropped: an error
// holds the status, codes that look like identifiers, and words of this
// package. The key is in no error and no printed form of [Config] or [Client],
// and goes to no other place than base_url.
package llm
