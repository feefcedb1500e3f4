import { useState, type ReactNode } from 'react';

interface SliderProps {
  readonly label: string;
  readonly help?: string;
  readonly value: number;
  readonly min: number;
  readonly max: number;
  readonly step: number;
  /** The meaning of a value, for those who hear it. */
  readonly describe: (value: number) => string;
  /** While it moves. */
  readonly onMove: (value: number) => void;
  /** Once it has been let go. */
  readonly onCommit: (value: number) => void;
}

/** The toolkit has none: a native one in the theme's colours. */
export function Slider({ label, help, value, min, max, step, describe, onMove, onCommit }: SliderProps): ReactNode {
  const [moved, setMoved] = useState<number>();
  const shown = moved ?? value;
  const commit = (): void => {
    if (moved !== undefined && moved !== value) onCommit(moved);
    setMoved(undefined);
  };
  return (
    <input
      type="range"
      className="slider"
      aria-label={label}
      aria-description={help}
      aria-valuetext={describe(shown)}
      value={shown}
      min={min}
      max={max}
      step={step}
      onChange={(event) => {
        const next = Number(event.target.value);
        setMoved(next);
        onMove(next);
      }}
      onPointerUp={commit}
      onKeyUp={commit}
      onBlur={commit}
    />
  );
}
