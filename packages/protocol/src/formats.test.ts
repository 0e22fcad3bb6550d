import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseWith } from './errors/fault.ts';
import * as formats from './formats.ts';
import { codePointsFormat, UINT256_MAX } from './formats.ts';

type Format = Parameters<typeof parseWith>[0];

const accepts = (format: Format, value: unknown) => 'value' in parseWith(format, value);

/** Time that this process has computed for, in milliseconds: a loaded machine adds nothing to it. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const numbers = {
  relayerFee: formats.relayerFeeFormat,
  fundAmount: formats.fundAmountFormat,
  relayerFundAmount: formats.relayerFundAmountFormat,
  timestamp: formats.timestampFormat,
  'permit.deadline': formats.deadlineFormat,
};

describe.each(Object.entries(numbers))('%s', (_, format) => {
  test('takes a decimal number exactly when it is at most uint256', () => {
    const near = fc.bigInt({ min: -1000n, max: 1000n }).map((distance) => UINT256_MAX + distance);
    fc.assert(
      fc.property(fc.oneof(near, fc.bigInt({ min: 0n, max: 2n ** 260n })), (number) => {
        expect(accepts(format, String(number))).toBe(number <= UINT256_MAX);
      }),
    );
  });
});

const ids = { cloudId: formats.cloudIdFormat, dataId: formats.dataIdFormat, salt: formats.saltFormat };

describe('a fault', () => {
  test('says that a missing field is required, and what was expected of a wrong one', () => {
    const expected = 'expected 0x followed by 40 hex digits';
    expect(parseWith(formats.addressFormat, undefined)).toEqual({
      faults: [{ path: 'body', message: `required: ${expected}` }],
    });
    expect(parseWith(formats.addressFormat, null)).toEqual({ faults: [{ path: 'body', message: expected }] });
  });

  test('never repeats the value', () => {
    for (const format of [...Object.values(numbers), ...Object.values(ids), formats.chainNameFormat]) {
      expect(JSON.stringify(parseWith(format, 'sesame!'.repeat(20)))).not.toContain('sesame');
    }
  });
});

describe('no text of 256 kB takes long', () => {
  const size = 262_144;
  const every = Object.entries(formats).filter(([name]) => name.endsWith('Format') && name !== 'codePointsFormat');
  const texts = [
    `0x${'ab'.repeat(size / 2 - 1)}`,
    `0x${'ab'.repeat(size / 2 - 2)}a`,
    `0x${'ab'.repeat(size / 2 - 2)}ag`,
    '9'.repeat(size),
    `${'1'.repeat(size - 1)}x`,
    'a'.repeat(size),
    `a${'.:-_'.repeat(size / 4 - 1)}!`,
    '0197c2a4-'.repeat(size / 9),
    'f'.repeat(size),
    `${'0'.repeat(size - 1)}\n`,
    ' '.repeat(size),
  ];

  test.each(every)('%s', (_, format) => {
    const start = cpuMs();
    // The names that end in `Format` are schemas, but for the one that makes them.
    for (const text of texts) accepts(format as Format, text);
    // Some 10 ms for all; a pattern that backtracks without end would take minutes.
    expect(cpuMs() - start).toBeLessThan(2000);
  });

  test('a text of code points', () => {
    const start = cpuMs();
    for (const text of texts) accepts(codePointsFormat(1000, 'Text', 'a'), text);
    expect(cpuMs() - start).toBeLessThan(2000);
  });
});
