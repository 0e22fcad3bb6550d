import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from './startStack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
  await stack.run(['examples/node/relayer.ts']).waitFor(/^Relaying as/);
});
afterAll(async () => {
  await stack?.stop();
});

describe('the examples in Node', () => {
  it('write to the chain without gas, and keep a file', async () => {
    const submit = stack.run(['examples/node/submit.ts']);
    const code = await submit.ended();
    expect(submit.output).toEqual([
      expect.stringMatching(/^CREATE_PRISM_WITH_DATA_FOR is on the chain by 0x[0-9a-f]{64}$/),
      ...Array.from({ length: 3 }, () => expect.stringMatching(/^WRITE_DATA_FOR is on the chain by 0x/)),
      expect.stringMatching(/^MODIFY_DATA_FOR is on the chain by 0x/),
      'The chain says: hello, world',
      expect.stringMatching(/^Stored 36 bytes as 0x[0-9a-f]{64}$/),
      'They are: a diary',
    ]);
    expect(code).toBe(0);
  });

  it('say what is missing', async () => {
    const program = stack.run(['--eval', "process.env.DEVNET_FILE = '/nowhere'; import('./examples/node/submit.ts')"]);
    expect(await program.ended()).toBe(1);
    expect(program.output.join('\n')).toContain('start one with npm run devnet');
  });
});
