// A button that keeps the focus while there is nothing for it to do. `disabled` would drop the focus to the top of the page when
// the click on the button itself is what disables it.

import type { ReactNode } from 'react'

interface ActionProps {
  readonly isOff: boolean
  readonly onClick: () => void
  readonly children: ReactNode
}

export function Action({ isOff, onClick, children }: ActionProps) {
  return (
    <button aria-disabled={isOff} onClick={isOff ? undefined : onClick}>
      {children}
    </button>
  )
}
