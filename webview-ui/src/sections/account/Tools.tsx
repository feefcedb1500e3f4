import type { ReactNode } from 'react';
import type { ShownAccount, ShownToolWeight, ShownToolWeights } from '../../../../src/panel/protocol';
import { Disclosure } from '../../components/Disclosure';
import { ProblemList } from '../../components/Problems';
import { Table, type TableColumn } from '../../components/Table';
import { formatNumber, t } from '../../l10n';
import { useRequestAnswer } from '../../state/useAnswer';

type StoredCalls = ShownAccount['total']['calls'];

interface ToolWeightsProps {
  /** Calls of tools in stored sessions; absent until the user analyzes these. */
  readonly stored: StoredCalls | undefined;
}

export function ToolWeightsTables({ stored }: ToolWeightsProps): ReactNode {
  const { answer } = useRequestAnswer('toolWeights', {});
  if (answer.kind === 'waiting') return null;
  if (answer.kind === 'failed') return <ProblemList problems={[answer.message]} />;
  return (
    <>
      <h4 className="group-title">{t('Tool definitions')}</h4>
      <p className="row-help">
        {answer.result.length === 0
          ? t('No running conversation is being condensed, so the size of the tool definitions is not known yet.')
          : t('All tools of a conversation are sent with each of its requests, whether or not they are called.')}
      </p>
      {answer.result.map((weights, index) => (
        <ToolWeightsOfConversation key={`${index} ${weights.title}`} weights={weights} stored={stored} />
      ))}
    </>
  );
}

interface CalledTool extends ShownToolWeight {
  /** Calls in the same agent's stored sessions; absent until they are analyzed. */
  readonly storedCalls: number | undefined;
}

interface ToolWeightsOfConversationProps extends ToolWeightsProps {
  readonly weights: ShownToolWeights;
}

function ToolWeightsOfConversation({
  weights: { title, agent, tools },
  stored,
}: ToolWeightsOfConversationProps): ReactNode {
  const callsByTool = new Map(
    stored?.flatMap(({ agent: of, tool, calls }) => (of === agent ? [[tool, calls] as const] : [])),
  );
  // Some agents have another name in their stored sessions, so their calls can't be found there.
  const isKnown = callsByTool.size > 0;
  const calledTools = tools.map((tool): CalledTool => ({
    ...tool,
    storedCalls: isKnown ? (callsByTool.get(tool.name) ?? 0) : undefined,
  }));
  const unusedTools = calledTools.filter((tool) => countToolCalls(tool) === 0);
  return (
    <Disclosure
      title={t('{0}, {1}: {2} tokens in each request', title, agent, formatTokenSum(calledTools))}
      searchTexts={['tools plugin agents']}
    >
      {unusedTools.length > 0 && (
        <p>
          {t(
            'Never called: {0} of {1} tools, {2} tokens.',
            unusedTools.length,
            calledTools.length,
            formatTokenSum(unusedTools),
          )}{' '}
          {t('You can turn them off in the chat’s list of tools, or in the agent’s own list.')}
        </p>
      )}
      <ToolWeightsByServer tools={calledTools} />
      <Table
        label={t('Tools')}
        columns={[
          { title: t('Tool'), cell: ({ name }) => <span className="wrapped">{name}</span> },
          { title: t('MCP server'), cell: ({ server }) => server ?? '' },
          ...makeToolFigureColumns((tool: CalledTool) => [tool], isKnown),
        ]}
        rows={calledTools}
        getKey={({ name }, index) => `${index} ${name}`}
      />
      {!isKnown && (
        <p className="row-help">
          {stored
            ? t('No calls are known from stored sessions of “{0}”: only running conversations are counted.', agent)
            : t('“Analyze” also counts the calls in the agent’s stored sessions.')}
        </p>
      )}
    </Disclosure>
  );
}

interface ToolServer {
  readonly name: string | undefined;
  readonly tools: readonly CalledTool[];
}

function ToolWeightsByServer({ tools }: { readonly tools: readonly CalledTool[] }): ReactNode {
  const serverNames = [...new Set(tools.map(({ server }) => server))];
  if (serverNames.every((name) => name === undefined)) return null;
  const servers = serverNames
    .map((name): ToolServer => ({ name, tools: tools.filter(({ server }) => server === name) }))
    .toSorted((a, b) => sumToolTokens(b.tools) - sumToolTokens(a.tools));
  return (
    <Table
      label={t('MCP servers')}
      columns={[
        { title: t('MCP server'), cell: ({ name }) => name ?? t('Built in and from extensions') },
        { title: t('Tools'), isNumber: true, cell: (server) => formatNumber(server.tools.length) },
        ...makeToolFigureColumns((server: ToolServer) => server.tools, tools[0]?.storedCalls !== undefined),
      ]}
      rows={servers}
      getKey={({ name = '' }) => name}
    />
  );
}

function makeToolFigureColumns<Row>(
  getTools: (row: Row) => readonly CalledTool[],
  hasStored: boolean,
): readonly TableColumn<Row>[] {
  const makeCountColumn = (title: string, getCount: (tool: CalledTool) => number): TableColumn<Row> => ({
    title,
    isNumber: true,
    cell: (row) => formatNumber(getTools(row).reduce((sum, tool) => sum + getCount(tool), 0)),
  });
  return [
    makeCountColumn(t('Tokens'), ({ tokens }) => tokens),
    makeCountColumn(t('Calls here'), ({ calls }) => calls),
    makeCountColumn(t('In other running conversations'), ({ callsElsewhere }) => callsElsewhere),
    ...(hasStored ? [makeCountColumn(t('In stored sessions'), ({ storedCalls = 0 }) => storedCalls)] : []),
  ];
}

const countToolCalls = ({ calls, callsElsewhere, storedCalls = 0 }: CalledTool): number =>
  calls + callsElsewhere + storedCalls;

const sumToolTokens = (tools: readonly CalledTool[]): number => tools.reduce((sum, { tokens }) => sum + tokens, 0);

const formatTokenSum = (tools: readonly CalledTool[]): string => formatNumber(sumToolTokens(tools));
