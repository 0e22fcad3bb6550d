import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findOnly, findResources } from '../rig/readTemplate.ts';

const paper = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');
const written = (count: unknown) => Number(count).toLocaleString('en-US');

/** Reads the ceilings of the synthesised prod stacks. */
function readCeilings() {
  const instances = findOnly('prod', 'AWS::Lambda::Function', 'Function').Properties.ReservedConcurrentExecutions;
  const [table] = Object.values(findResources('prod', 'AWS::DynamoDB::Table'));
  const { MaxWriteRequestUnits: units } = (table?.Properties.OnDemandThroughput ?? {}) as Record<string, number>;
  // Lambda's own bound of a function's URL.
  return { rate: written(10 * Number(instances)), instances: written(instances), units: written(units) };
}

it('docs/scaling.md states the limits of the stacks in what breaks first', () => {
  const { rate, instances, units } = readCeilings();
  expect(paper).toContain(
    `Lambda lets ${rate} calls a second through ${instances} instances (\`RESERVED_CONCURRENCY\`)`,
  );
  expect(paper).toContain(`table and indexes each take ${units} write units a second (\`MAX_TABLE_WRITE_UNITS\`)`);
});
