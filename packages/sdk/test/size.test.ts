import { describe, expect, it } from 'vitest';
import { measureBundle } from '../scripts/measureBundle.ts';
import { SIZE_BUDGETS } from '../scripts/sizeBudget.ts';

describe('the size of the SDK in a front-end', () => {
  it.each(Object.entries(SIZE_BUDGETS))(
    'keeps to its budget, with no schemas or chain library along: %s',
    async (_, budget) => {
      const { bytes, foreign } = await measureBundle(budget.source, import.meta.dirname);
      expect(foreign).toEqual([]);
      expect(bytes).toBeGreaterThan(2000);
      expect(bytes).toBeLessThanOrEqual(budget.bytes);
    },
  );

  it('leaves out what a page does not use', async () => {
    const { bytes } = await measureBundle("export { isGatewayError } from '@prism-gateway/sdk';", import.meta.dirname);
    expect(bytes).toBeLessThan(5000);
  });

  it('sees what comes along', async () => {
    const { foreign } = await measureBundle("export * from '@prism-gateway/protocol';", import.meta.dirname);
    expect(foreign).toEqual(['zod']);
  });
});
