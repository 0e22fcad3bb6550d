import fc from 'fast-check';

/** Values that are wrong nearly everywhere, or only just right. */
const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  27.5,
  255,
  256,
  1e300,
  '',
  '0',
  '00',
  '-1',
  '0x',
  '0X12',
  '0x1',
  '0x12\n',
  ' 0x12',
  `0x${'ab'.repeat(20)}`,
  `0x${'AB'.repeat(32)}`,
  `0x${'ab'.repeat(33)}`,
  // 2^256 - 1, 2^256, and the largest number of as many digits.
  String(2n ** 256n - 1n),
  String(2n ** 256n),
  '9'.repeat(78),
  '1'.repeat(79),
  'é'.repeat(500),
  '😀'.repeat(1000),
  '😀'.repeat(1001),
  'x'.repeat(1001),
  '\ud800',
  'eip155:1',
  '-eip155',
  'pending',
  'success',
  'WRITE_DATA_FOR',
  [],
  [[]],
  {},
];

type Container = Record<string, unknown> | unknown[];

interface Place {
  readonly container: Container;
  readonly key: string;
}

/** Every field and entry of a JSON value, outermost first. */
function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  // An object of JSON is an array or a record.
  const container = value as Container;
  return Object.entries(container).flatMap(([key, inner]) => [{ container, key }, ...placesIn(inner)]);
}

function setAt({ container, key }: Place, value: unknown): void {
  // Not by assignment, which would take `__proto__` for the prototype.
  Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
}

function alterText(text: string, at: number, letter: string): string {
  const index = text.length === 0 ? 0 : at % text.length;
  return `${text.slice(0, index)}${letter}${text.slice(index + (at % 2))}`;
}

type Mutation = (places: readonly Place[], choose: number) => void;

const remove: Mutation = (places, choose) => {
  const place = places[choose % places.length];
  if (place === undefined) return;
  if (Array.isArray(place.container)) place.container.splice(Number(place.key), 1);
  else delete place.container[place.key];
};

const replaceBy =
  (value: unknown): Mutation =>
  (places, choose) => {
    const place = places[choose % places.length];
    if (place !== undefined) setAt(place, structuredClone(value));
  };

const addBeside =
  (name: string, value: unknown): Mutation =>
  (places, choose) => {
    const container = places[choose % places.length]?.container;
    if (container === undefined) return;
    if (Array.isArray(container)) container.push(structuredClone(value));
    else setAt({ container, key: name }, structuredClone(value));
  };

const doubleEntry: Mutation = (places, choose) => {
  const inArrays = places.filter(({ container }) => Array.isArray(container));
  const place = inArrays[choose % Math.max(1, inArrays.length)];
  if (Array.isArray(place?.container)) place.container.push(structuredClone(place.container[Number(place.key)]));
};

const alterOneText =
  (at: number, letter: string): Mutation =>
  (places, choose) => {
    const texts = places.filter(({ container, key }) => typeof Reflect.get(container, key) === 'string');
    const place = texts[choose % Math.max(1, texts.length)];
    if (place !== undefined) setAt(place, alterText(String(Reflect.get(place.container, place.key)), at, letter));
  };

const oddValue = fc.constantFrom(...oddValues);
const fieldName = fc.constantFrom(
  'permit',
  'payload',
  'txHash',
  'errorMessage',
  'label',
  '__proto__',
  'constructor',
  'x',
);

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.constant(remove),
  oddValue.map(replaceBy),
  fc.tuple(fieldName, oddValue).map(([name, value]) => addBeside(name, value)),
  fc.constant(doubleEntry),
  fc
    .tuple(fc.nat(200), fc.constantFrom('0', 'f', 'G', 'x', ' ', '\n', '٣'))
    .map(([at, letter]) => alterOneText(at, letter)),
);

/**
 * Makes an arbitrary of JSON values that are nearly, and sometimes still, what another arbitrary makes: fields taken out,
 * added and replaced at every level, texts altered by a letter, entries doubled.
 *
 * @param valid - what to begin with
 * @returns values as `JSON.parse` gives them
 */
export function mutateJson(valid: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const steps = fc.array(fc.tuple(mutation, fc.nat(10_000)), { minLength: 0, maxLength: 3 });
  return fc.tuple(valid, steps).map(([value, mutations]) => {
    // One root more, so that the whole value can be replaced too.
    const root = { value: JSON.parse(JSON.stringify(value)) };
    for (const [mutate, choose] of mutations) mutate(placesIn(root), choose);
    return JSON.parse(JSON.stringify(root)).value;
  });
}
