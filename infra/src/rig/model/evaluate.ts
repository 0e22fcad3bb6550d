/** What a template's expressions are evaluated with. */
export interface EvaluationScope {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly conditions: Readonly<Record<string, unknown>>;
  /** Physical id of a resource of the same stack that is there already. */
  readonly refOf: (logicalId: string) => string;
  readonly importValue: (name: string) => string;
}

const PSEUDO: Readonly<Record<string, string>> = {
  'AWS::AccountId': '123456789012',
  'AWS::Partition': 'aws',
  'AWS::URLSuffix': 'amazonaws.com',
  'AWS::Region': 'eu-central-1',
  'AWS::StackName': 'stack',
  'AWS::StackId': 'stack-id',
};

const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [value]);

function evaluateRef(name: string, scope: EvaluationScope): unknown {
  if (name === 'AWS::NoValue') return undefined;
  return scope.parameters[name] ?? PSEUDO[name] ?? scope.refOf(name);
}

function evaluateSub(value: unknown, scope: EvaluationScope): string {
  const [text, more = {}] = asList(value) as readonly [string, Readonly<Record<string, unknown>>?];
  return text.replaceAll(/\$\{([\w:.]+)\}/g, (_, name: string) => {
    const given = more[name];
    if (given !== undefined) return String(evaluate(given, scope));
    const [id = '', attribute] = name.split('.');
    return attribute === undefined ? String(evaluateRef(id, scope)) : `${scope.refOf(id)}.${attribute}`;
  });
}

/** CloudFormation's functions that the templates use. */
const FUNCTIONS: Readonly<Record<string, (argument: unknown, scope: EvaluationScope) => unknown>> = {
  Ref: (name, scope) => evaluateRef(String(name), scope),
  'Fn::GetAtt': (argument, scope) => {
    const [id, attribute] = asList(argument);
    return `${scope.refOf(String(id))}.${String(attribute)}`;
  },
  'Fn::ImportValue': (name, scope) => scope.importValue(String(evaluate(name, scope))),
  'Fn::Join': (argument, scope) => {
    const [separator, parts] = asList(argument);
    return asList(evaluate(parts, scope)).join(String(separator));
  },
  'Fn::Split': (argument, scope) => {
    const [separator, text] = asList(argument);
    return String(evaluate(text, scope)).split(String(separator));
  },
  'Fn::Select': (argument, scope) => {
    const [index, list] = asList(argument);
    return asList(evaluate(list, scope))[Number(index)] ?? 'selected';
  },
  'Fn::Sub': evaluateSub,
  'Fn::If': (argument, scope) => {
    const [condition, then, otherwise] = asList(argument);
    return evaluate(evaluate(scope.conditions[String(condition)], scope) === true ? then : otherwise, scope);
  },
  'Fn::Equals': (argument, scope) => {
    const [left, right] = asList(argument);
    return evaluate(left, scope) === evaluate(right, scope);
  },
};

/**
 * Evaluates a value of a template as CloudFormation does.
 *
 * @throws Error for a function that this model does not know, or a resource that is not there yet
 */
export function evaluate(value: unknown, scope: EvaluationScope): unknown {
  if (Array.isArray(value)) return value.map((item) => evaluate(item, scope)).filter((item) => item !== undefined);
  if (typeof value !== 'object' || value === null) return value;
  const [[name, argument] = ['', undefined], ...more] = Object.entries(value);
  const call = more.length === 0 ? FUNCTIONS[name] : undefined;
  if (call !== undefined) return call(argument, scope);
  if (name.startsWith('Fn::')) throw new Error(`The model does not know ${name}.`);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, evaluate(item, scope)]));
}

/** Finds the logical ids that a value refers to, among those given. */
export function findReferences(value: unknown, ids: ReadonlySet<string>): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => findReferences(item, ids));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) => {
    if (key === 'Ref' && ids.has(String(item))) return [String(item)];
    if (key === 'Fn::GetAtt' && ids.has(String(asList(item)[0]))) return [String(asList(item)[0])];
    if (key === 'Fn::Sub') {
      const names = [...String(asList(item)[0]).matchAll(/\$\{([\w:]+)[\w.]*\}/g)].map(([, name = '']) => name);
      return [...names.filter((name) => ids.has(name)), ...findReferences(asList(item)[1], ids)];
    }
    return findReferences(item, ids);
  });
}
