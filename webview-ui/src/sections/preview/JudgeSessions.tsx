import { Fragment, useEffect, useRef, useState, type ReactNode } from 'react';
import { getErrorMessage } from '../../../../src/core/errors';
import type { JudgedSettings } from '../../../../src/panel/protocol';
import { ProblemList } from '../../components/Problems';
import { Table, type TableColumn } from '../../components/Table';
import { formatPercent, t } from '../../l10n';
import { usePanel } from '../../state/panel';
import { Button, ProgressRing } from '../../ui';

export function JudgeSessionsForm(): ReactNode {
  const { connection } = usePanel();
  const runningRequest = useRef<AbortController>(undefined);
  const [judgedSettings, setJudgedSettings] = useState<JudgedSettings>();
  const [progress, setProgress] = useState<string>();
  const [problems, setProblems] = useState<readonly string[]>([]);
  useEffect(() => () => runningRequest.current?.abort(), []);
  const compareOnSessions = async (): Promise<void> => {
    const abortController = new AbortController();
    runningRequest.current = abortController;
    setProgress(t('Looking for your conversations…'));
    setProblems([]);
    try {
      const options = {
        timeoutMs: Infinity,
        signal: abortController.signal,
        onProgress: (done: number, of: number) => {
          setProgress(t('Comparing on your conversations: {0} of {1}', done, of));
        },
      };
      setJudgedSettings(await connection.sendRequest('judgeSessions', {}, options));
    } catch (error) {
      if (!abortController.signal.aborted) setProblems([getErrorMessage(error)]);
    }
    if (runningRequest.current === abortController) setProgress(undefined);
  };
  return (
    <div className="group-plain">
      <h4 className="group-title">{t('My settings and the presets')}</h4>
      <p className="row-help">
        {t(
          'Condenses the beginning of the newest conversations that your agents have stored, in memory, and counts how many needed lines (those that later edits quote) are lost. No model is called, nothing is written, and nothing leaves this machine. This can take a few minutes.',
        )}
      </p>
      <p className="actions">
        {progress === undefined ? (
          <Button onClick={() => void compareOnSessions()}>{t('Compare on my conversations')}</Button>
        ) : (
          <>
            <Button onClick={() => runningRequest.current?.abort()}>{t('Cancel')}</Button>
            <ProgressRing label={progress} />
          </>
        )}
      </p>
      <ProblemList problems={problems} />
      {judgedSettings && <JudgmentReport judged={judgedSettings} />}
    </div>
  );
}

type JudgmentCurvePoint = JudgedSettings['points'][number];

function JudgmentReport({ judged }: { readonly judged: JudgedSettings }): ReactNode {
  const { read: readCount, sessions, lines, choices, points, isOther } = judged;
  const getChoiceName = (id: string): string => {
    const choiceName = choices.find((choice) => choice.id === id)?.name ?? id;
    return id === 'current' ? t('{0} (current)', t(choiceName)) : t(choiceName);
  };
  const columns: readonly TableColumn<JudgmentCurvePoint>[] = [
    { title: t('Option'), cell: ({ choice }) => getChoiceName(choice) },
    {
      title: t('Target'),
      isNumber: true,
      cell: ({ target }) => (target === undefined ? '–' : formatSharePercent(target)),
    },
    { title: t('Tokens remaining'), isNumber: true, cell: ({ left }) => formatSharePercent(left) },
    { title: t('Needed lines lost'), isNumber: true, cell: ({ lostShare }) => formatSharePercent(lostShare) },
    {
      title: t('95% interval'),
      isNumber: true,
      cell: ({ lost }) => (lost ? t('{0} to {1}', formatSharePercent(lost.low), formatSharePercent(lost.high)) : '–'),
    },
  ];
  return (
    <>
      <p role="status">
        <strong>{describeVerdict(judged, getChoiceName)}</strong>{' '}
        {t(
          '{0} conversations were read; in {1} of them, later edits used {2} lines from the condensed part.',
          readCount,
          sessions,
          lines,
        )}
        {isOther &&
          ` ${t('The current settings call a model or use another extension’s provider, so Lossless was judged instead.')}`}
      </p>
      {lines > 0 && (
        <>
          <JudgmentChart judged={judged} name={getChoiceName} />
          <Table
            label={t('Needed lines that each option loses')}
            columns={columns}
            rows={joinEqualTargets(points)}
            getKey={({ choice, target }) => `${choice} ${target ?? ''}`}
          />
        </>
      )}
    </>
  );
}

/** Joins the points of an option that removes and loses the same at every target. */
const joinEqualTargets = (points: readonly JudgmentCurvePoint[]): JudgmentCurvePoint[] =>
  points.flatMap((point) => {
    const ownPoints = points.filter(({ choice }) => choice === point.choice);
    const isSameAsOwn = ownPoints.every(({ left, lostShare }) => left === point.left && lostShare === point.lostShare);
    if (!isSameAsOwn) return [point];
    const { target: _, ...rest } = point;
    return ownPoints[0] === point ? [rest] : [];
  });

const formatSharePercent = (part: number): string => formatPercent(100 * Math.min(1, Math.max(0, part)));

function describeVerdict({ verdict, points }: JudgedSettings, getChoiceName: (id: string) => string): string {
  switch (verdict.kind) {
    case 'too-little':
      return t('There is too little data for a recommendation.');
    case 'keep':
      if (points.every(({ choice, lostShare }) => choice !== 'current' || lostShare === 0))
        return t('Keep the current settings: they lose none of the needed lines.');
      return t(
        'Keep the current settings. Where another option loses fewer needed lines at the same size, the difference is not significant.',
      );
    case 'change': {
      const fewerPercent = formatSharePercent(-verdict.difference.share);
      return verdict.target === undefined
        ? t(
            '{0} leaves no more tokens and loses {1} fewer of the needed lines.',
            getChoiceName(verdict.choice),
            fewerPercent,
          )
        : t(
            'With a target of {2}, {0} leaves no more tokens and loses {1} fewer of the needed lines.',
            getChoiceName(verdict.choice),
            fewerPercent,
            formatSharePercent(verdict.target),
          );
    }
  }
}

/** Width and height in units of the drawing. */
const CHART_WIDTH = 400;
const CHART_HEIGHT = 160;
/** Number of classes `choice-N` in `history.css`. */
const CHOICE_COLORS = 6;
const LINE_DASHES = ['', '6 3', '2 3', '8 3 2 3', '1 2', '12 4'];

/** Plots needed lines kept (upwards) by tokens removed (to the right). */
function JudgmentChart({
  judged: { choices, points },
  name,
}: {
  readonly judged: JudgedSettings;
  readonly name: (id: string) => string;
}): ReactNode {
  const formatPoint = ({ left, lostShare }: Pick<JudgmentCurvePoint, 'left' | 'lostShare'>): string =>
    `${((1 - left) * CHART_WIDTH).toFixed(1)},${(lostShare * CHART_HEIGHT).toFixed(1)}`;
  return (
    <figure className="chart">
      <figcaption>
        {t('Needed lines kept (upwards) and tokens removed (to the right). The table below has the figures.')}
      </figcaption>
      <ul className="chart-legend">
        {choices.map(({ id }, choiceIndex) => (
          <li key={id}>
            <svg viewBox="0 0 28 8" width="28" height="8" aria-hidden="true">
              <line
                className={`chart-line choice-${choiceIndex % CHOICE_COLORS}`}
                strokeDasharray={LINE_DASHES[choiceIndex % LINE_DASHES.length]}
                x1="0"
                y1="4"
                x2="28"
                y2="4"
              />
            </svg>
            {name(id)}
          </li>
        ))}
      </ul>
      <svg
        viewBox={`-34 -20 ${CHART_WIDTH + 44} ${CHART_HEIGHT + 52}`}
        role="img"
        aria-label={t('Needed lines kept by tokens removed')}
      >
        <path className="chart-axis" d={`M0 0V${CHART_HEIGHT}H${CHART_WIDTH}`} />
        <text className="chart-label" x={-30} y={-11}>
          {t('Needed lines kept')}
        </text>
        <text className="chart-label" x={CHART_WIDTH} y={CHART_HEIGHT + 27} textAnchor="end">
          {t('Tokens removed')}
        </text>
        {[0, 0.5, 1].map((part) => (
          <Fragment key={part}>
            <text className="chart-label" x={-4} y={(1 - part) * CHART_HEIGHT + 3} textAnchor="end">
              {formatSharePercent(part)}
            </text>
            <text
              className="chart-label"
              x={part * CHART_WIDTH}
              y={CHART_HEIGHT + 14}
              textAnchor={part === 1 ? 'end' : part === 0 ? 'start' : 'middle'}
            >
              {formatSharePercent(part)}
            </text>
          </Fragment>
        ))}
        {choices.map(({ id }, choiceIndex) => {
          const curvePoints = points
            .filter(({ choice, target }) => choice === id && target !== undefined)
            .toSorted((a, b) => b.left - a.left);
          return (
            <polyline
              key={id}
              className={`chart-line choice-${choiceIndex % CHOICE_COLORS}`}
              strokeDasharray={LINE_DASHES[choiceIndex % LINE_DASHES.length]}
              points={curvePoints.map(formatPoint).join(' ')}
            >
              <title>{name(id)}</title>
            </polyline>
          );
        })}
        {points.map((point) => {
          const [x, y] = formatPoint(point).split(',');
          const choiceIndex = choices.findIndex(({ id }) => id === point.choice);
          return (
            <circle
              key={`${point.choice} ${point.target ?? ''}`}
              className={`chart-point choice-${choiceIndex % CHOICE_COLORS}`}
              cx={x}
              cy={y}
              r={2.5}
            >
              <title>{name(point.choice)}</title>
            </circle>
          );
        })}
      </svg>
    </figure>
  );
}
