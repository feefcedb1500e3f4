import { Component, type ReactNode } from 'react';

interface ErrorBoundaryProps {
  /** Text that is shown instead of children that failed. */
  readonly message: string;
  readonly onError: (error: unknown) => void;
  readonly children: ReactNode;
}

/** Keeps a failure in one part of the page from affecting the others. React requires a class. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { readonly hasFailed: boolean }> {
  override readonly state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(error: unknown): void {
    this.props.onError(error);
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <p className="problem">{this.props.message}</p> : this.props.children;
  }
}
