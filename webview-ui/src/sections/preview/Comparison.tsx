import { useRef, useState, type ReactNode } from 'react';
import type { Compared, Configuration, ConversationName } from '../../../../src/panel/protocol';
import { Problems } from '../../components/Problems';
import { formatPercent, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Button, Dropdown, ProgressRing, type Choice } from '../../ui';
import { costOf, reductionOf } from './Figures';
import { usePreviewed } from './usePreview';

/** A conversation with what each of the two configurations would make of it, in their order. */
interface Row {
  readonly conversation: ConversationName;
  readonly results: readonly (Compared | string)[];
}

/** Two configurations side by side, on conversations that the user chooses. */
export function Comparison(): ReactNode {
  const { connection } = usePanel();
  const [previewed] = usePreviewed();
  const choices = useConfigurations();
  const [chosen, setChosen] = useState(['current', 'preset file-aware']);
  const [conversations, setConversations] = useState<readonly ConversationName[]>([]);
  const [rows, setRows] = useState<readonly Row[]>([]);
  const [problems, setProblems] = useState<readonly string[]>([]);
  const [isBusy, setBusy] = useState(false);
  const running = useRef<AbortController>(undefined);
  const compared = [previewed, ...conversations];
  const add = async (): Promise<void> => {
    setProblems([]);
    try {
      const { conversation } = await connection.request('choosePreviewed', {}, { timeoutMs: Infinity });
      if (conversation) setConversations([...conversations, conversation]);
    } catch (error) {
      setProblems([error instanceof Error ? error.message : String(error)]);
    }
  };
  const compare = async (): Promise<void> => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    setBusy(true);
    setProblems([]);
    setRows([]);
    for (const conversation of compared) {
      const results: (Compared | string)[] = [];
      for (const value of chosen) {
        const params = { conversation, configuration: configurationOf(value) };
        const options = { signal: abort.signal, timeoutMs: COMPARE_TIMEOUT_MS };
        try {
          results.push(await connection.request('compare', params, options));
        } catch (error) {
          if (abort.signal.aborted) return;
          results.push(error instanceof Error ? error.message : String(error));
        }
      }
      setRows((before) => [...before, { conversation, results }]);
    }
    setBusy(false);
  };
  return (
    <div className="group-plain">
      <h3 className="group-title">{t('Compare two configurations')}</h3>
      <div className="compared">
        {chosen.map((value, index) => (
          <div key={index}>
            <span className="row-name">{index === 0 ? t('First') : t('Second')}</span>
            <Dropdown
              label={index === 0 ? t('First configuration') : t('Second configuration')}
              value={value}
              choices={choices}
              onChange={(next) => {
                setChosen(chosen.with(index, next));
              }}
            />
          </div>
        ))}
      </div>
      <p className="row-help">{t('{0} conversations: the one above and those that you add.', compared.length)}</p>
      <p className="actions">
        <Button primary disabled={isBusy} onClick={() => void compare()}>
          {t('Compare')}
        </Button>
        <Button icon="add" onClick={() => void add()}>
          {t('Add a conversation…')}
        </Button>
        {conversations.length > 0 && (
          <Button
            onClick={() => {
              setConversations([]);
            }}
          >
            {t('Only the one above')}
          </Button>
        )}
      </p>
      {isBusy && <ProgressRing label={t('Comparing…')} />}
      <Problems problems={problems} />
      {rows.map(({ results }, index) => (
        <ComparedTable key={index} results={results} names={chosen.map((value) => labelOf(value, choices))} />
      ))}
    </div>
  );
}

/** A comparison condenses a long conversation eight times. Milliseconds. */
const COMPARE_TIMEOUT_MS = 120_000;

interface ComparedTableProps {
  readonly results: Row['results'];
  readonly names: readonly string[];
}

function ComparedTable({ results, names }: ComparedTableProps): ReactNode {
  const title = results.find((result) => typeof result !== 'string')?.title ?? '';
  const lines: readonly (readonly [string, (result: Compared) => string])[] = [
    [t('Tokens now'), ({ tokensBefore }) => t('{0}', tokensBefore)],
    [t('Tokens afterwards'), ({ tokensAfter }) => t('{0}', tokensAfter)],
    [t('Reduction'), (result) => formatPercent(reductionOf(result))],
    [t('Code lines that still stand there'), ({ recall }) => share(recall.verbatim, recall.needed)],
    [t('Code lines that can be recalled'), ({ recall }) => share(recall.recallable, recall.needed)],
    [t('Cost'), costOf],
  ];
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={t('Comparison: {0}', title)}>
      <table className="table">
        <caption translate="no">{title}</caption>
        <thead>
          <tr>
            <td />
            {names.map((name, index) => (
              <th key={index} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map(([name, valueOf]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {results.map((result, index) => (
                <td key={index}>{typeof result === 'string' ? '–' : valueOf(result)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <Problems problems={results.filter((result) => typeof result === 'string')} />
    </div>
  );
}

/** Of the lines that the conversation's later edits quoted. */
const share = (part: number, whole: number): string =>
  whole === 0 ? t('none was needed') : t('{0} ({1} of {2})', formatPercent((100 * part) / whole), part, whole);

/** What can be compared: the settings as they are, a preset, a provider with its own settings. */
function useConfigurations(): readonly Choice[] {
  const { state, welcome } = usePanel();
  return [
    { value: 'current', label: t('Current settings') },
    ...state.presets.map(({ id, name, isBuiltIn }) => ({
      value: `preset ${id}`,
      label: t('Preset {0}', isBuiltIn ? t(name) : name),
    })),
    ...welcome.providers.map(({ id, name }) => ({ value: `provider ${id}`, label: t('Provider {0}', t(name)) })),
  ];
}

const labelOf = (value: string, choices: readonly Choice[]): string =>
  choices.find((choice) => choice.value === value)?.label ?? value;

function configurationOf(value: string): Configuration {
  const [kind, ...id] = value.split(' ');
  if (kind === 'preset' || kind === 'provider') return { kind, id: id.join(' ') };
  return { kind: 'current' };
}
