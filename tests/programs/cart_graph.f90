! A ring as a grid whose ranks may move, by the binding that MODULE names: for test_reorder_grid.py.
program ring
  use MODULE
  implicit none
  integer :: error, world, ranks, now, before, next, known(2), sides(1)
  logical :: rounds(1)
  COMM :: made
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, world, error)
  call mpi_comm_size(mpi_comm_world, ranks, error)
  sides = ranks
  rounds = .true.
  call mpi_cart_create(mpi_comm_world, 1, sides, rounds, .true., made, error)
  call mpi_comm_rank(made, now, error)
  call mpi_cart_shift(made, 0, 1, before, next, error)
  call mpi_sendrecv(world, 1, mpi_integer, next, 0, known(1), 1, mpi_integer, before, 0, made, &
                    mpi_status_ignore, error)
  call mpi_sendrecv(world, 1, mpi_integer, before, 1, known(2), 1, mpi_integer, next, 1, made, &
                    mpi_status_ignore, error)
  print '(i0, a, i0, a, i0, a, i0, a)', world, ' is ', now, ': ', known(1), ' ', known(2), ';'
  call mpi_finalize(error)
end program
