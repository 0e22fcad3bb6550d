import solc from 'solc';
import { expect, it } from 'vitest';
import { countCoverage, type Run } from '../scripts/coverage/countCoverage.ts';
import { mapCode } from '../scripts/coverage/mapCode.ts';
import { readItems } from '../scripts/coverage/readItems.ts';

const file = 'Tiny.sol';
const source = `// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;
contract Tiny {
    uint256 public last;
    function set(uint256 value) external {
        if (value > 9) revert();
        last = value > 4 && value != 7 ? value : 1;
        assembly ("memory-safe") {
            if eq(value, 1) { mstore(0, 1) }
            if eq(value, 2) { mstore(0, 2) }
        }
    }
}
`;

interface Code {
  readonly object: string;
  readonly sourceMap: string;
}

function compile(): { readonly ast: unknown; readonly code: Code } {
  const outputSelection = { '*': { '': ['ast'], '*': ['evm.deployedBytecode'] } };
  const settings = { viaIR: true, evmVersion: 'cancun', optimizer: { enabled: false }, outputSelection };
  const input = { language: 'Solidity', sources: { [file]: { content: source } }, settings };
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  return { ast: output.sources[file].ast, code: output.contracts[file].Tiny.evm.deployedBytecode };
}

const { ast, code } = compile();
const map = mapCode(code.object, code.sourceMap, new Map([[0, file]]));
const measured = { file, text: Buffer.from(source), items: readItems(file, ast) };
const all = new Set(map.places.keys());
const both = new Map(map.jumps.map((pc) => [pc, 3]));
/** Instructions of one line. */
const startsOn = (line: number) => (pc: number) => {
  const place = map.places.get(pc);
  const within = source
    .split('\n')
    .slice(0, line - 1)
    .join('\n').length;
  const end = source.split('\n').slice(0, line).join('\n').length;
  return place !== undefined && place.start > within && place.start < end;
};

it('counts lines with a statement, and two ways for each decision', () => {
  const run: Run = { ...map, pcs: all, outcomes: both };
  expect(countCoverage(measured, [run])).toEqual({
    file,
    lines: { hit: 3, total: 3, missed: [] },
    branches: { hit: 10, total: 10, missed: [] },
  });
});

it('counts nothing that was not executed', () => {
  const run: Run = { ...map, pcs: new Set(), outcomes: new Map() };
  const { lines, branches } = countCoverage(measured, [run]);
  expect([lines.hit, branches.hit]).toEqual([0, 0]);
  expect(lines.missed).toEqual([6, 7, 8]);
});

it('misses a line of which a part was not executed, and a way that was not taken', () => {
  const onLineSix = startsOn(6);
  const reverts = (pc: number) => source.slice(map.places.get(pc)?.start ?? 0).startsWith('revert()');
  const pcs = new Set([...all].filter((pc) => !(onLineSix(pc) && reverts(pc))));
  const outcomes = new Map([...both].map(([pc, ways]) => [pc, onLineSix(pc) ? 1 : ways]));
  const { lines, branches } = countCoverage(measured, [{ ...map, pcs, outcomes }]);
  expect(lines).toEqual({ hit: 2, total: 3, missed: [6] });
  expect(branches).toEqual({ hit: 9, total: 10, missed: [6] });
});

it('tells the decisions of one assembly block apart, and takes what any of the contracts has executed', () => {
  const inBlock = map.jumps.filter(startsOn(8));
  expect(inBlock).toHaveLength(2);
  const outcomes = new Map([...both].map(([pc, ways]) => [pc, pc === inBlock[1] ? 2 : ways]));
  const half: Run = { ...map, pcs: all, outcomes };
  expect(countCoverage(measured, [half]).branches).toMatchObject({ hit: 9, missed: [8] });
  expect(countCoverage(measured, [half, { ...half, outcomes: both }]).branches.hit).toBe(10);
});
