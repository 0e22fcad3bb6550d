/** A piece of a source: byte offset and length in its file. */
export interface Place {
  readonly file: string;
  readonly start: number;
  readonly length: number;
}

/** A decision, with two ways out of it. */
export interface Branch extends Place {
  /** Which of the decisions at this place: an assembly block may hold several. */
  readonly index: number;
  /** How many decisions there are at this place. */
  readonly count: number;
}

/** Something that is executed as a whole or not at all. */
export interface Statement extends Place {
  /** All of it. Where its part is no more than a name, the compiler has no instruction of that place, but some of the whole. */
  readonly whole: Place;
}

/** What a run can execute. */
export interface Items {
  readonly statements: readonly Statement[];
  readonly branches: readonly Branch[];
}

/** A node of the compiler's syntax tree. */
interface Node {
  readonly nodeType: string;
  readonly src: string;
  readonly [key: string]: unknown;
}

const PLAIN = new Set(['ExpressionStatement', 'EmitStatement', 'RevertStatement']);
const LOOPS = new Set(['ForStatement', 'WhileStatement', 'DoWhileStatement']);

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'nodeType' in value;

/** All nodes below one, itself first, in the order of the source. */
function* nodesOf(node: Node): Generator<Node> {
  yield node;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* nodesOf(child);
  }
}

/** The part of a statement that is executed whenever the statement is; undefined where there is none. */
function statementOf(node: Node): string | undefined {
  const part = (key: string) => (isNode(node[key]) ? node[key].src : undefined);
  if (PLAIN.has(node.nodeType) || node.nodeType === 'InlineAssembly') return node.src;
  if (node.nodeType === 'IfStatement' || LOOPS.has(node.nodeType)) return part('condition');
  if (node.nodeType === 'TryStatement') return part('externalCall');
  if (node.nodeType === 'Return') return part('expression');
  return node.nodeType === 'VariableDeclarationStatement' ? part('initialValue') : undefined;
}

/** Where the decisions stand that a node makes itself. */
function decisionsOf(node: Node): readonly string[] {
  const { nodeType, src, condition, operator } = node;
  if (nodeType === 'IfStatement' || nodeType === 'Conditional' || nodeType === 'TryStatement') return [src];
  if (LOOPS.has(nodeType) && isNode(condition)) return [condition.src];
  if (nodeType === 'BinaryOperation' && (operator === '&&' || operator === '||')) return [src];
  if (nodeType !== 'InlineAssembly' || !isNode(node.AST)) return [];
  return [...nodesOf(node.AST)].filter((part) => part.nodeType === 'YulIf').map(() => src);
}

/**
 * Lists what a source has to be executed: statements (of an assembly block only the block as a whole), and decisions, which are `if`,
 * `? :`, `&&`, `||`, the conditions of loops, `try`, and the `if` of assembly.
 *
 * @param file - the source's path
 * @param ast - its syntax tree, as the compiler gives it
 * @returns in the order of the source
 */
export function readItems(file: string, ast: unknown): Items {
  if (!isNode(ast)) throw new TypeError(`no syntax tree of ${file}`);
  const placeOf = (src: string): Place => {
    const [start = 0, length = 0] = src.split(':').map(Number);
    return { file, start, length };
  };
  const statements: Statement[] = [];
  const branches: Branch[] = [];
  for (const node of nodesOf(ast)) {
    const statement = statementOf(node);
    if (statement !== undefined) statements.push({ ...placeOf(statement), whole: placeOf(node.src) });
    const decisions = decisionsOf(node);
    branches.push(...decisions.map((src, index) => ({ ...placeOf(src), index, count: decisions.length })));
  }
  return { statements, branches };
}
