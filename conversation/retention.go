package conversation

const (
	// promptsReach is how far back, in longest prompts, a turn is kept. Prompts
	// reach back for three quarters of their budget (newPrompt), which is at
	// most the longest prompt over 0.4 ([Engine.budget]): 1.9 of them. The rest
	// is for somebody who configures a longer one tomorrow.
	promptsReach = 4

	// turnsKept are kept in any case: those in which an edit looks for its
	// message, and one for the newest, which may yet be withdrawn.
	turnsKept = turnsSearched + 1

	// mostForgotten bounds what one turn removes. It is more than one, so that a
	// history which is too long gets shorter.
	mostForgotten = 8
)

// outlived is the offset at which a turn has to end, or after, to be part of a
// prompt once newest is in the history. It grows with every turn, and falls
// only when the history is cleared; newest itself does not count, since its
// tokens are taken back if it is withdrawn.
func (r Rules) outlived(newest Turn) int { return newest.Offset - promptsReach*r.ContextTokens }

// retain removes what no prompt can show and no edit can find any more, now
// that a turn is in the history (I7: nobody can tell the difference).
func (u *unit) retain(k Key, newest Turn) error {
	end := u.engine.rules.outlived(newest)
	if end <= 0 {
		return nil
	}
	var old []Version
	for turn, err := range u.tx.OldHistory(k, turnsKept) {
		if err != nil {
			u.engine.log.Error("the history is not pruned: a record cannot be read", "chat", k.Chat, "err", err)
			break
		}
		if turn.Offset+turn.Tokens >= end || len(old) == mostForgotten {
			break
		}
		old = append(old, turn.ID)
	}
	for _, id := range old {
		if err := u.tx.DeleteTurn(k, id); err != nil {
			return err
		}
	}
	return nil
}
