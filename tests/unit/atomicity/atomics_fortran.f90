! SPDX-License-Identifier: Apache-2.0
! What is atomic here shows in no word of the statement; "doubted:" as in atomics.c.
module shared; integer :: total = 0, last = 0, copy = 0; end module;

subroutine count_one(n); use shared; integer, intent(in) :: n;
!$omp atomic write
  last = n; ! /* doubted: */
!$omp atomic read
  copy = last; ! /* doubted: */
  total = total + copy; ! /* doubted: */
end subroutine;

program counting; use shared; integer :: i;
!$omp parallel do
  do i = 1, 100; call count_one(i); end do;
  print *, total;
end program;
