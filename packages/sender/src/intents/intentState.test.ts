import { describe, expect, test } from 'vitest';
import { FINAL_STATES, INTENT_STATES, type IntentState, moveIntent } from './intentState.ts';

const move = (state: IntentState, to: IntentState) => {
  const intent = { intentId: 'x', state };
  moveIntent(intent, to);
  return intent.state;
};

describe('the machine', () => {
  test('ends in confirmed and abandoned, and nowhere else', () => {
    expect(FINAL_STATES).toEqual(['confirmed', 'abandoned']);
    for (const from of FINAL_STATES) for (const to of INTENT_STATES) expect(() => move(from, to)).toThrow(TypeError);
  });

  test('lets an intent lose its nonce only when it was displaced', () => {
    const roads = INTENT_STATES.filter((from) => {
      try {
        return move(from, 'queued') === 'queued';
      } catch {
        return false;
      }
    });
    expect(roads).toEqual(['displaced']);
  });

  test('confirms only what is mined', () => {
    expect(move('mined', 'confirmed')).toBe('confirmed');
    for (const from of INTENT_STATES.filter((state) => state !== 'mined')) {
      expect(() => move(from, 'confirmed')).toThrow(/cannot go from/);
    }
  });

  test('changes nothing when it refuses', () => {
    const intent = { intentId: 'x', state: 'queued' as IntentState };
    expect(() => moveIntent(intent, 'mined')).toThrow('intent x cannot go from queued to mined');
    expect(intent.state).toBe('queued');
  });
});
