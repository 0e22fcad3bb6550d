import { isDeepStrictEqual } from 'node:util';
import { applyMove, type ModelRecord, type Move, type MoveAnswer } from './applyMove.ts';

/** A move that was made, with what the store answered. */
export interface AnsweredMove {
  readonly move: Move;
  readonly answer: MoveAnswer;
}

/**
 * Looks for an order in which the model answers parallel moves on one record just as the store did, and leaves the record as the
 * store shows it afterwards. There is one for every store whose moves are atomic (linearizable); where two claims won, a
 * stranger's report was taken or a status went backwards, there is none.
 *
 * @param state - the record before the moves
 * @param moves - on this record, all made at the same time
 * @param after - the record as the store shows it once they are answered
 * @returns the record after them; undefined where no order explains what was seen
 */
export function explainAnswers(
  state: ModelRecord | undefined,
  moves: readonly AnsweredMove[],
  after: MoveAnswer,
): { readonly state: ModelRecord | undefined } | undefined {
  if (moves.length === 0) return isDeepStrictEqual(state?.record, after) ? { state } : undefined;
  for (const [i, { move, answer }] of moves.entries()) {
    const applied = applyMove(state, move);
    if (!isDeepStrictEqual(applied.answer, answer)) continue;
    const explained = explainAnswers(applied.state, moves.toSpliced(i, 1), after);
    if (explained !== undefined) return explained;
  }
  return undefined;
}
