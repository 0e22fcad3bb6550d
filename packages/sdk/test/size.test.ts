import { describe, expect, it } from 'vitest';
import { measureBundle } from '../scripts/measureBundle.ts';
import { BUDGETED_SOURCE, SIZE_BUDGET_BYTES } from '../scripts/sizeBudget.ts';

describe('the size of the SDK in a front-end', () => {
  it('keeps to its budget, with no schemas or chain library along', async () => {
    const { bytes, foreign } = await measureBundle(BUDGETED_SOURCE, import.meta.dirname);
    expect(foreign).toEqual([]);
    expect(bytes).toBeGreaterThan(5000);
    expect(bytes).toBeLessThanOrEqual(SIZE_BUDGET_BYTES);
  });

  it('leaves out what a page does not use', async () => {
    const { bytes } = await measureBundle("export { isGatewayError } from '@prism-gateway/sdk';", import.meta.dirname);
    expect(bytes).toBeLessThan(5000);
  });

  it('sees what comes along', async () => {
    const { foreign } = await measureBundle("export * from '@prism-gateway/protocol';", import.meta.dirname);
    expect(foreign).toEqual(['zod']);
  });
});
